import assert from 'node:assert/strict'
import { it } from 'node:test'
import { initialsOf, toneOf } from './initials.ts'

it('takes the first letters of two words or two letters of one', () => {
  assert.deepEqual(['night-watch', 'scout', 'Ada Lovelace King', 'x', '', '日本 語'].map(initialsOf), [
    'NW',
    'SC',
    'AL',
    'X',
    '',
    '日語',
  ])
})

it('gives a name the same tone each time and uses all tones', () => {
  assert.equal(toneOf('scout', 5), toneOf('scout', 5))
  const tones = new Set(Array.from({ length: 60 }, (_, at) => toneOf(`agent-${at}`, 5)))
  assert.equal(tones.size, 5)
})
