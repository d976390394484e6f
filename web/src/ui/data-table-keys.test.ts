import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareValues, rowAfterKey, toggleRows } from './data-table-keys.ts'

describe('keys in a table', () => {
  it('move by one row, by a page and to the ends, and stop there', () => {
    const after = (key: string, from: number) => rowAfterKey(key, from, 100, 10)
    assert.deepEqual(
      [after('j', 0), after('ArrowDown', 99), after('k', 0), after('ArrowUp', 5)],
      [1, 99, 0, 4],
    )
    assert.deepEqual(
      [after('PageDown', 95), after('PageUp', 4), after('Home', 50), after('End', 0)],
      [99, 0, 0, 99],
    )
  })
  it('do nothing in an empty table, and other keys do nothing', () => {
    assert.equal(rowAfterKey('j', 0, 0, 10), null)
    assert.equal(rowAfterKey('x', 0, 5, 10), null)
  })
})

describe('selecting rows', () => {
  const keys = ['a', 'b', 'c', 'd']
  it('toggles one row', () => {
    assert.deepEqual([...toggleRows({ selected: new Set(['a']), keys, key: 'b', anchor: null })], ['a', 'b'])
    assert.deepEqual([...toggleRows({ selected: new Set(['a']), keys, key: 'a', anchor: null })], [])
  })
  it('includes the rows between, in either direction', () => {
    const down = toggleRows({ selected: new Set(['b']), keys, key: 'd', anchor: 'b' })
    assert.deepEqual([...down].sort(), ['b', 'c', 'd'])
    const up = toggleRows({ selected: new Set(keys), keys, key: 'a', anchor: 'c' })
    assert.deepEqual([...up], ['d'])
  })
  it('leaves out rows of the range that cannot be selected', () => {
    const selectable = keys.filter((key) => key !== 'b')
    const next = toggleRows({ selected: new Set(['a']), keys: selectable, key: 'd', anchor: 'a' })
    assert.deepEqual([...next], ['a', 'c', 'd'])
  })
  it('keeps selected rows that are not shown', () => {
    const next = toggleRows({ selected: new Set(['older']), keys, key: 'a', anchor: null })
    assert.deepEqual([...next], ['older', 'a'])
  })
  it('toggles only the row itself when the anchor no longer exists', () => {
    assert.deepEqual([...toggleRows({ selected: new Set(), keys, key: 'c', anchor: 'gone' })], ['c'])
  })
})

it('orders numbers by value and words by the numbers in them', () => {
  assert.deepEqual([10, 9, -1].sort(compareValues), [-1, 9, 10])
  assert.deepEqual(['run 10', 'Run 2', 'alpha'].sort(compareValues), ['alpha', 'Run 2', 'run 10'])
})
