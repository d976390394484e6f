/**
 * Generates the pages of `docs/reference` and the checksums of the migrations with `--write`. Without the flag it
 * fails if one of them is stale, so that they match the code.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { endpoints } from '@roost/contracts'
import { type ErrorCode, errorCatalogue } from '@roost/contracts/kit/errors'
import { openApiDocument } from '@roost/contracts/openapi'
import { configReference } from '../server/src/config.ts'
import { errorHelp } from '../server/src/http/help/errors.ts'
import { metricDefinitions } from '../server/src/operations/metrics/index.ts'
import { accessPage } from './access/table.ts'
import { chartPage } from './helm/values-page.ts'
import { toolsPage } from './mcp-tools.ts'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'docs/reference')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

const migrationFolder = join(root, 'server/src/migrations')

const pages: Record<string, string> = {
  '../../server/src/migrations/checksums.json': checksumsOfMigrations(),
  'openapi.json': `${JSON.stringify(openApiDocument(endpoints, manifest.version), null, 2)}\n`,
  'errors.md': errorsPage(),
  'config.md': configReference(),
  'access.md': await accessPage(),
  'chart.md': chartPage(root),
  'mcp-tools.md': toolsPage(),
  '../operate/metrics.md': withTable('../operate/metrics.md', 'metrics', metricsTable()),
}

if (process.argv.includes('--write')) {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(pages)) writeFileSync(join(folder, name), text)
  console.log(`reference: ${Object.keys(pages).length} pages written`)
} else {
  const stale = Object.entries(pages).filter(([name, text]) => read(join(folder, name)) !== text)
  for (const [name] of stale)
    console.error(`${relative(root, join(folder, name))} is stale: node checks/reference.ts --write`)
  console.log(`reference: ${Object.keys(pages).length} pages, ${stale.length} stale`)
  process.exit(stale.length > 0 ? 1 : 0)
}

/** Comments, imports and white space do not count: a migration that was applied may still be reworded. */
function checksumsOfMigrations(): string {
  const files = readdirSync(migrationFolder).filter((name) => /^\d{4}-.*\.ts$/.test(name))
  const entries = files.toSorted().map((name) => {
    const code = readFileSync(join(migrationFolder, name), 'utf8')
      .replace(/^\s*\/\*.*?\*\//gms, '')
      .replace(/^\s*\/\/.*$/gm, '')
      .replace(/^import .*$/gm, '')
      .replace(/\s+/g, ' ')
    return [name.slice(0, -'.ts'.length), createHash('sha256').update(code).digest('hex')]
  })
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`
}

function errorsPage(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, [status, words]]) => `| ${status} | [\`${code}\`](#${code}) | ${words} |`,
  )
  // The catalogue is a closed list of codes.
  const details = (Object.entries(errorHelp) as [ErrorCode, readonly [string, string]][]).flatMap(
    ([code, [cause, remedy]]) => ['', `### ${code}`, '', `Cause: ${cause}`, '', `What to do: ${remedy}`],
  )
  return [
    '# Errors',
    '',
    'Every error response is `{detail, error, …}`: `detail` is a sentence for a person, `error` one of these codes.',
    '`validation_error` has a list of `{loc, msg, type}` as `detail`. Some errors have further fields.',
    '`docs_url` is the path of a page about the code on the same host: `/help/errors/<code>`. A running platform serves',
    'the pages itself, without sign-in; `/help/errors` lists all.',
    '',
    '| Status | Code | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
    '## Causes and remedies',
    ...details,
    '',
  ].join('\n')
}

function metricsTable(): string[] {
  const rows = metricDefinitions().map(({ name, type, labels, scope, help }) => {
    const names = labels.map((label) => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${names} | ${scope} | ${help} |`
  })
  return ['| metric | type | labels | of | meaning |', '|---|---|---|---|---|', ...rows]
}

/** The page with the lines between its two markers replaced; the rest is written by hand. */
function withTable(name: string, marker: string, lines: string[]): string {
  const text = read(join(folder, name)) ?? ''
  const pattern = new RegExp(`(<!-- ${marker}: .* -->\\n)[^]*(<!-- /${marker} -->\\n)`)
  if (!pattern.test(text)) throw new Error(`${name} has no markers for its table`)
  return text.replace(pattern, (_, begin, end) => `${begin}\n${lines.join('\n')}\n\n${end}`)
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
