import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventId, positionOf, type Start, startAfter } from './rules.ts'

test('an id says its position, and as text it grows with it', () => {
  const ids = [0, 9, 10, 4_999, 123_456_789_012].map(eventId)
  assert.deepEqual(ids, ids.toSorted())
  assert.deepEqual(ids.map(positionOf), [0, 9, 10, 4_999, 123_456_789_012])
})

test('what is no id of ours says nothing', () => {
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
  ['nothing is kept, and nothing happened since', 70, { oldest: null, newest: 70 }, { after: 70 }],
  ['nothing is kept', 69, { oldest: null, newest: 70 }, { resync: 'trimmed' }],
  ['the next one is the oldest that is kept', 50, { oldest: 51, newest: 70 }, { after: 50 }],
  ['the next one is not kept', 49, { oldest: 51, newest: 70 }, { resync: 'trimmed' }],
  ['as many as are sent again', 70, { oldest: 1, newest: 5_070 }, { after: 70 }],
  ['one too many', 69, { oldest: 1, newest: 5_070 }, { resync: 'gap_too_large' }],
  ['from the future', 71, { oldest: 1, newest: 70 }, { resync: 'invalid_last_event_id' }],
]
for (const [title, last, kept, expected] of cases) {
  test(`${title} → ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(startAfter(eventId(last), kept), expected)
  })
}
