import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeNext } from './next-path.ts'

test('a path of this application keeps its query string', () => {
  assert.equal(safeNext('/agents/scout?tab=files&path=%2Fa'), '/agents/scout?tab=files&path=%2Fa')
})

for (const next of [
  '//evil.example',
  '/\\evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  '/\t/evil',
  '',
  '/login?next=/login',
  '/setup',
]) {
  test(`${JSON.stringify(next)} leads to the start page`, () => assert.equal(safeNext(next), '/'))
}

test('a missing path leads to the start page', () => assert.equal(safeNext(undefined), '/'))
