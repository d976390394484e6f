/**
 * Generates the pages of `docs/reference` with `--write`. Without the flag it fails if a page is stale, so that
 * the documentation matches the code.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { endpoints } from '@roost/contracts'
import { errorCatalogue } from '@roost/contracts/kit/errors'
import { openApiDocument } from '@roost/contracts/openapi'
import { configReference } from '../server/src/config.ts'
import { accessPage } from './access/table.ts'
import { toolsPage } from './mcp-tools.ts'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'docs/reference')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

const pages: Record<string, string> = {
  'openapi.json': `${JSON.stringify(openApiDocument(endpoints, manifest.version), null, 2)}\n`,
  'errors.md': errorsPage(),
  'config.md': configReference(),
  'access.md': await accessPage(),
  'mcp-tools.md': toolsPage(),
}

if (process.argv.includes('--write')) {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(pages)) writeFileSync(join(folder, name), text)
  console.log(`reference: ${Object.keys(pages).length} pages written`)
} else {
  const stale = Object.entries(pages).filter(([name, text]) => read(join(folder, name)) !== text)
  for (const [name] of stale)
    console.error(`docs/reference/${name} is stale: node checks/reference.ts --write`)
  console.log(`reference: ${Object.keys(pages).length} pages, ${stale.length} stale`)
  process.exit(stale.length > 0 ? 1 : 0)
}

function errorsPage(): string {
  const rows = Object.entries(errorCatalogue).map(
    ([code, [status, words]]) => `| ${status} | \`${code}\` | ${words} |`,
  )
  return [
    '# Errors',
    '',
    'Every error response is `{detail, error, …}`: `detail` is a sentence for a person, `error` one of these codes.',
    '`validation_error` has a list of `{loc, msg, type}` as `detail`. Some errors have further fields.',
    '',
    '| Status | Code | Meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
