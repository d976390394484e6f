import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundsOf, Comparison, measures } from './comparison.ts'

test('a comparison has inclusive bounds in the smallest unit', () => {
  const cases = [
    ['cost', '>0.5', 500_001, null],
    ['cost', '>=0.000001', 1, null],
    ['cost', '<2', null, 1_999_999],
    ['cost', '<=2', null, 2_000_000],
    ['cost', '0', 0, 0],
    ['cost', '0.5..2', 500_000, 2_000_000],
    ['tokens', '>50k', 50_001, null],
    ['tokens', '1.5k..2M', 1500, 2_000_000],
    ['tokens', '<100', null, 99],
    ['duration', '>5m', 300_001, null],
    ['duration', '>=90', 90_000, null],
    ['duration', '250ms..1.5h', 250, 5_400_000],
  ] as const
  for (const [measure, text, least, most] of cases) {
    assert.deepEqual(boundsOf(measure, text), { least, most }, `${measure} ${text}`)
    assert.ok(Comparison(measure).safeParse(text).success)
  }
})

test('other text is no comparison, also in a query string', () => {
  for (const measure of measures) {
    for (const text of [
      '',
      '>',
      'abc',
      '>-1',
      '1..',
      '..2',
      '>1..2',
      '1 ',
      '1e3',
      '=1',
      `>${'9'.repeat(10)}`,
    ]) {
      assert.equal(boundsOf(measure, text), null, `${measure} ${text}`)
      assert.ok(!Comparison(measure).safeParse(text).success)
    }
  }
  assert.equal(boundsOf('cost', '>5m'), null)
  assert.equal(boundsOf('tokens', '>5m'), null)
})
