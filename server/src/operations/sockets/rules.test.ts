import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventId, positionOf, type Start, startAfter } from './rules.ts'

test('an id contains its position and sorts by it as text', () => {
  const ids = [0, 9, 10, 4_999, 123_456_789_012].map(eventId)
  assert.deepEqual(ids, ids.toSorted())
  assert.deepEqual(ids.map(positionOf), [0, 9, 10, 4_999, 123_456_789_012])
})

test('an invalid id has no position', () => {
  for (const text of [
    '',
    '1',
    '-000000000000001',
    '00000000000000001',
    '000000000000000x',
    ' 000000000000001',
  ]) {
    assert.equal(positionOf(text), null, text)
  }
})

const cases: [string, number, { oldest: number | null; newest: number }, Start][] = [
  ['nothing happened since', 70, { oldest: 1, newest: 70 }, { after: 70 }],
  ['nothing ever happened', 0, { oldest: null, newest: 0 }, { after: 0 }],
  ['no event is stored and none was missed', 70, { oldest: null, newest: 70 }, { after: 70 }],
  ['no event is stored', 69, { oldest: null, newest: 70 }, { resync: 'trimmed' }],
  ['the next event is the oldest stored one', 50, { oldest: 51, newest: 70 }, { after: 50 }],
  ['the next event is not stored', 49, { oldest: 51, newest: 70 }, { resync: 'trimmed' }],
  ['as many as are sent again', 70, { oldest: 1, newest: 5_070 }, { after: 70 }],
  ['one too many', 69, { oldest: 1, newest: 5_070 }, { resync: 'gap_too_large' }],
  ['from the future', 71, { oldest: 1, newest: 70 }, { resync: 'invalid_last_event_id' }],
]
for (const [title, last, stored, expected] of cases) {
  test(`${title} → ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(startAfter(eventId(last), stored), expected)
  })
}
