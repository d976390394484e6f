import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeAfterKey } from './matrix-keys.ts'

const size = { rows: 3, columns: 2 }

test('arrows move by one cell and stop at the edges', () => {
  assert.deepEqual(placeAfterKey('ArrowDown', { row: 0, column: 1 }, size), { row: 1, column: 1 })
  assert.deepEqual(placeAfterKey('ArrowDown', { row: 2, column: 1 }, size), { row: 2, column: 1 })
  assert.deepEqual(placeAfterKey('ArrowLeft', { row: 0, column: 0 }, size), { row: 0, column: 0 })
})

test('Home and End move in the row, Page Up and Page Down in the column', () => {
  assert.deepEqual(placeAfterKey('End', { row: 1, column: 0 }, size), { row: 1, column: 1 })
  assert.deepEqual(placeAfterKey('Home', { row: 1, column: 1 }, size), { row: 1, column: 0 })
  assert.deepEqual(placeAfterKey('PageDown', { row: 0, column: 0 }, size), { row: 2, column: 0 })
})

test('other keys do nothing', () => {
  assert.equal(placeAfterKey('Tab', { row: 0, column: 0 }, size), null)
})
