import assert from 'node:assert/strict'
import { it } from 'node:test'
import { rankMatch } from './rank-match.ts'

it('offers only options that contain every typed word', () => {
  assert.equal(rankMatch('Atlantic/Bermuda', 'berl'), 0)
  assert.equal(rankMatch('tz', 'berlin mars', ['Europe/Berlin']), 0)
  assert.ok(rankMatch('tz', 'berlin eur', ['Europe/Berlin']) > 0)
})

it('ranks the beginning over the start of a word over the middle', () => {
  const ranks = ['scout', 'scout-two', 'night-scout', 'boyscout'].map((name) => rankMatch(name, 'scout'))
  assert.deepEqual(ranks, [1, 0.9, 0.7, 0.4])
})

it('offers everything for an empty search', () => {
  assert.equal(rankMatch('anything', ' '), 1)
})
