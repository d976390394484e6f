import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf } from './lines.ts'

test('blank lines and outer spaces are left out', () => {
  assert.deepEqual(linesOf(' When do you open?\r\n\n  \nWhere are you?'), [
    'When do you open?',
    'Where are you?',
  ])
  assert.deepEqual(linesOf(''), [])
})
