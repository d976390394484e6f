import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const source = join(import.meta.dirname, '..')
const docs = join(import.meta.dirname, '../../../docs')

test('every guide that a page links to exists', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.tsx?$/.test(path),
  )
  const named = files.flatMap((path) =>
    [...readFileSync(join(source, path), 'utf8').matchAll(/\bguide(?:: '|=")([a-z/-]+)['"]/g)].map(
      ([, guide = '']) => guide,
    ),
  )
  assert.ok(named.length > 40)
  assert.deepEqual(
    named.filter((guide) => !existsSync(join(docs, `${guide}.md`))),
    [],
  )
})
