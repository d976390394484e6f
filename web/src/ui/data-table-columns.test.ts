import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ColumnRoom, columnsInSight } from './data-table-columns.ts'

const columns: ColumnRoom[] = [
  { id: 'name', width: 200 },
  { id: 'status', width: 100 },
  { id: 'last', width: 100, priority: 2 },
  { id: 'cost', priority: 2 },
  { id: 'runs', width: 100, priority: 3 },
  { id: 'tags', width: 300, priority: 3 },
  { id: 'owner', width: 100, hidden: true },
]
const inSight = (width: number, choice = {}, besides = 0) => [
  ...columnsInSight(columns, width, choice, besides),
]

describe('visible columns', () => {
  test('shows columns that fit and are not hidden', () => {
    assert.deepEqual(inSight(940), ['name', 'status', 'last', 'cost', 'runs', 'tags'])
  })

  test('drops the last of the least important columns until the rest fits', () => {
    assert.deepEqual(inSight(939), ['name', 'status', 'last', 'cost', 'runs'])
    assert.deepEqual(inSight(940, {}, 1), ['name', 'status', 'last', 'cost', 'runs'])
    assert.deepEqual(inSight(540), ['name', 'status', 'last', 'cost'])
    assert.deepEqual(inSight(540, {}, 1), ['name', 'status', 'last'])
  })

  test('shows the most important columns on a phone even when they do not fit', () => {
    assert.deepEqual(inSight(280), ['name', 'status'])
  })

  test('keeps chosen columns and does not add unchosen ones', () => {
    assert.deepEqual(inSight(700, { tags: true, owner: true, status: false }), [
      'name',
      'last',
      'tags',
      'owner',
    ])
    assert.deepEqual(inSight(280, { tags: true }), ['name', 'status', 'tags'])
  })
})
