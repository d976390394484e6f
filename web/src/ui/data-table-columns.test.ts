import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ColumnSizing, columnWidth, visibleColumnIds } from './data-table-columns.ts'

const columns: ColumnSizing[] = [
  { id: 'name', width: 200 },
  { id: 'status', width: 100 },
  { id: 'last', width: 100, priority: 2 },
  { id: 'cost', priority: 2 },
  { id: 'runs', width: 100, priority: 3 },
  { id: 'tags', width: 300, priority: 3 },
  { id: 'owner', width: 100, hidden: true },
]
const visibleIds = (width: number, choice = {}, otherWidth = 0) => [
  ...visibleColumnIds(columns, width, choice, otherWidth),
]

describe('visible columns', () => {
  test('shows columns that fit and are not hidden', () => {
    assert.deepEqual(visibleIds(940), ['name', 'status', 'last', 'cost', 'runs', 'tags'])
  })

  test('drops the last of the least important columns until the rest fits', () => {
    assert.deepEqual(visibleIds(939), ['name', 'status', 'last', 'cost', 'runs'])
    assert.deepEqual(visibleIds(940, {}, 1), ['name', 'status', 'last', 'cost', 'runs'])
    assert.deepEqual(visibleIds(540), ['name', 'status', 'last', 'cost'])
    assert.deepEqual(visibleIds(540, {}, 1), ['name', 'status', 'last'])
  })

  test('shows the most important columns on a phone even when they do not fit', () => {
    assert.deepEqual(visibleIds(280), ['name', 'status'])
  })

  test('keeps chosen columns and does not add unchosen ones', () => {
    assert.deepEqual(visibleIds(700, { tags: true, owner: true, status: false }), [
      'name',
      'last',
      'tags',
      'owner',
    ])
    assert.deepEqual(visibleIds(280, { tags: true }), ['name', 'status', 'tags'])
  })

  test('uses the width for phones only below tablet width', () => {
    const column = { id: 'name', width: 180, phoneWidth: 112 }
    assert.deepEqual([columnWidth(column, 539), columnWidth(column, 540)], [112, 180])
    assert.equal(columnWidth({ id: 'cost' }, 300), 140)
  })
})
