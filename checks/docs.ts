/**
 * Paths that the documents name in backticks exist. Says how many it read, so that an empty answer is not
 * mistaken for a clean one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const documents = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...listMarkdown(join(root, 'docs')).map((path) => relative(root, path)),
].filter((path) => !path.startsWith('docs/reference/') && path !== 'CHANGELOG.md')

let named = 0
const missing: string[] = []
for (const document of documents) {
  for (const [index, line] of readFileSync(join(root, document), 'utf8').split('\n').entries()) {
    for (const match of line.matchAll(/`([a-z.][\w.-]*(?:\/[\w.-]+)+\/?)`/g)) {
      const path = match[1] ?? ''
      if (
        !/^(contracts|client|examples|server|agent|cli|images|checks|bench|docs|test-support|\.ci)\//.test(
          path,
        )
      )
        continue
      named += 1
      if (!existsSync(join(root, path))) missing.push(`${document}:${index + 1}: ${path} does not exist`)
    }
  }
}
for (const problem of missing) console.error(problem)
console.log(`docs: ${documents.length} documents, ${named} paths, ${missing.length} missing`)
process.exit(missing.length > 0 || named === 0 ? 1 : 0)

function listMarkdown(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? listMarkdown(path) : entry.name.endsWith('.md') ? [path] : []
  })
}
