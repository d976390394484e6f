import assert from 'node:assert/strict'
import { it } from 'node:test'
import { rankMatch } from './rank-match.ts'

it('offers only what holds every typed word', () => {
  assert.equal(rankMatch('Atlantic/Bermuda', 'berl'), 0)
  assert.equal(rankMatch('tz', 'berlin mars', ['Europe/Berlin']), 0)
  assert.ok(rankMatch('tz', 'berlin eur', ['Europe/Berlin']) > 0)
})

it('puts the beginning before the start of a word before the middle', () => {
  const ranks = ['scout', 'scout-two', 'night-scout', 'boyscout'].map((name) => rankMatch(name, 'scout'))
  assert.deepEqual(ranks, [1, 0.9, 0.7, 0.4])
})

it('offers everything while nothing is typed', () => {
  assert.equal(rankMatch('anything', ' '), 1)
})
