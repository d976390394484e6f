/** Fails when an endpoint of the interface specification is not there. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoints } from '@roost/contracts'
import { doors } from './access/doors.ts'

const nameless = (path: string) => path.replaceAll(/\{[^}]+\}/g, '{}')
const there = new Set([...endpoints, ...doors].map(({ method, path }) => `${method} ${nameless(path)}`))

const rows = readFileSync(join(import.meta.dirname, 'specified-endpoints.tsv'), 'utf8')
  .trim()
  .split('\n')
const specified = rows.slice(1).map((row) => {
  const [method = '', path = '', section = ''] = row.split('\t')
  return { method, path, section }
})
const missing = specified.filter(({ method, path }) => !there.has(`${method} ${nameless(path)}`))

for (const { method, path, section } of missing) console.log(`${section}: ${method} ${path}`)
console.log(
  `coverage: ${specified.length - missing.length} of ${specified.length} endpoints, ${missing.length} missing`,
)
if (missing.length > 0) process.exitCode = 1
