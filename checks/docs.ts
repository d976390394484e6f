/**
 * Checks the documents: `node checks/docs.ts [ROOT]`. Paths in backticks, link targets and the steps of the walks
 * exist, and so do the commands and requests. The index of decisions is complete, and ARCHITECTURE.md names every
 * feature folder. Fails if it read nothing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { endpoints } from '@roost/contracts'
import { commands } from '../cli/src/commands.ts'
import { brokenLinks, mapProblems, recordProblems, unlistedPages, walkProblems } from './documents.ts'
import { commandLinesOf, commandProblem, isServed, requestsOf } from './named-interfaces.ts'

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...listMarkdown(join(root, 'docs')).map((path) => relative(root, path)),
].filter((path) => !path.startsWith('docs/reference/') && path !== 'CHANGELOG.md')

/** Sockets are no endpoints of the contracts. */
const sockets = ['/api/agents/{name}/terminal', '/api/public/voip/media/{id}']
const served = [...endpoints, ...sockets.map((path) => ({ method: 'WS', path }))]

let named = 0
let interfaces = 0
const missing: string[] = []
const problems: string[] = []
for (const document of documents) {
  const text = readFileSync(join(root, document), 'utf8')
  problems.push(...brokenLinks(document, text, (path) => existsSync(join(root, path))))
  const commandLines = commandLinesOf(text)
  const requests = requestsOf(text)
  interfaces += commandLines.length + requests.length
  for (const { line, text: command } of commandLines) {
    const problem = commandProblem(command, commands)
    if (problem) problems.push(`${document}:${line}: ${problem}`)
  }
  for (const { line, ...request } of requests) {
    if (!isServed(request, served))
      problems.push(
        `${document}:${line}: the platform does not serve ${request.method ?? ''} ${request.path}`,
      )
  }
  for (const [index, line] of text.split('\n').entries()) {
    for (const match of line.matchAll(/`([a-z.][\w.-]*(?:\/[\w.-]+)+\/?)`/g)) {
      const path = match[1] ?? ''
      if (
        !/^(contracts|client|examples|server|agent|cli|mcp|web|images|checks|bench|docs|deploy|test-support|\.ci)\//.test(
          path,
        )
      )
        continue
      named += 1
      if (!existsSync(join(root, path))) missing.push(`${document}:${index + 1}: ${path} does not exist`)
    }
  }
}
const guides = listMarkdown(join(root, 'docs')).map((path) => relative(join(root, 'docs'), path))
problems.push(
  ...unlistedPages(
    readFileSync(join(root, 'docs/README.md'), 'utf8'),
    guides.filter((path) => path !== 'README.md' && !/^decisions\/\d/.test(path)),
  ),
)

const decisions = join(root, 'docs/decisions')
const records = readdirSync(decisions)
  .filter((name) => /^\d{4}-.*\.md$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(decisions, name), 'utf8') }))
problems.push(...recordProblems(readFileSync(join(decisions, 'README.md'), 'utf8'), records))

const areas = [
  'foundation',
  'identity',
  'agents',
  'skills',
  'runs',
  'triggers',
  'conversations',
  'operations',
]
const folders = new Map(areas.map((area) => [`server/src/${area}/`, featuresOf(`server/src/${area}`)]))
const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
problems.push(...mapProblems(architecture, folders))
problems.push(...walkProblems(architecture, (path) => existsSync(join(root, path))))

for (const problem of [...missing, ...problems]) console.error(problem)
const counts = `${documents.length} documents, ${named} paths, ${interfaces} commands and requests, ${records.length} decisions`
console.log(`docs: ${counts}, ${missing.length + problems.length} problems`)
// `process.exit` would cut off the list if the output is a pipe.
process.exitCode =
  missing.length + problems.length > 0 || named === 0 || interfaces === 0 || records.length === 0 ? 1 : 0

/** Returns the feature folders of an area, without `test`, which contains shared test code. */
function featuresOf(area: string): string[] {
  if (!existsSync(join(root, area))) return []
  return readdirSync(join(root, area), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'test')
    .map(({ name }) => name)
}

function listMarkdown(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? listMarkdown(path) : entry.name.endsWith('.md') ? [path] : []
  })
}
