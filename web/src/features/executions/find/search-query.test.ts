import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterOf, queryOf, searchOf } from './search-query.ts'

test('an address and a filter are the same', () => {
  const query = { agent: 'scout', error: 'timeout', cost: '>1', tag: '', hours: 48, q: 'text' }
  const search = searchOf(query)
  assert.deepEqual(queryOf({ ...search, page: 3 } as typeof search, 24), query)
  assert.equal(search.status, undefined)
  assert.ok('status' in search, 'removes the parameter')
})

test('the usual period is not part of the filter, and days replace hours', () => {
  assert.deepEqual(queryOf({ hours: 24 }, 24), {})
  assert.deepEqual(queryOf({ hours: 0 }, 24), { hours: 0 })
  assert.deepEqual(queryOf({ hours: 48, from: '2026-01-31' }, 24), { from: '2026-01-31' })
})

test('the list searches for the text', () => {
  assert.deepEqual(filterOf({ q: 'text', status: 'failed' }), { search: 'text', status: 'failed', hours: 0 })
})
