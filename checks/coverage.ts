/** Fails if an endpoint of the interface specification is missing. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoints } from '@roost/contracts'
import { entryPoints } from './access/entry-points.ts'

const withoutNames = (path: string) => path.replaceAll(/\{[^}]+\}/g, '{}')
const existing = new Set(
  [...endpoints, ...entryPoints].map(({ method, path }) => `${method} ${withoutNames(path)}`),
)

const rows = readFileSync(join(import.meta.dirname, 'specified-endpoints.tsv'), 'utf8')
  .trim()
  .split('\n')
const specified = rows.slice(1).map((row) => {
  const [method = '', path = '', section = ''] = row.split('\t')
  return { method, path, section }
})
const missing = specified.filter(({ method, path }) => !existing.has(`${method} ${withoutNames(path)}`))

for (const { method, path, section } of missing) console.log(`${section}: ${method} ${path}`)
console.log(
  `coverage: ${specified.length - missing.length} of ${specified.length} endpoints, ${missing.length} missing`,
)
if (missing.length > 0) process.exitCode = 1
