import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listFilter, listParam } from './list-filter.ts'

test('the filter of a list survives the way through the address of a run', () => {
  const filter = {
    hours: 24,
    status: 'failed',
    search: 'a & b=c',
    person: '',
    error: 'timeout',
    from: '2026-01-01',
  }
  assert.deepEqual(listFilter(listParam(filter), 'scout'), filter)
})

test('without a list, the runs of the agent are beside each other', () => {
  assert.deepEqual(listFilter(undefined, 'scout'), { agent: 'scout', hours: 0 })
  assert.deepEqual(listFilter('hours=-3&unknown=1', 'scout'), { hours: 0 })
})
