import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferredWaitMs, prefersMinimal } from './prefer.ts'

for (const [header, expected] of [
  ['wait=25', 25_000],
  ['respond-async, wait=10', 10_000],
  ['handling=lenient; Wait = "3"', 3_000],
  ['wait=0', 0],
  ['wait=ten', null],
  ['await=5', null],
  ['wait=1234567', null],
  ['', null],
  [undefined, null],
] as const) {
  test(`Prefer: ${header} is ${expected}`, () => assert.equal(preferredWaitMs(header), expected))
}

for (const [header, expected] of [
  ['return=minimal', true],
  ['wait=25, Return = "minimal"', true],
  ['return=representation', false],
  ['return=minimalist', false],
  ['xreturn=minimal', false],
  [undefined, false],
] as const) {
  test(`Prefer: ${header} ${expected ? 'leaves' : 'does not leave'} the transcript out`, () =>
    assert.equal(prefersMinimal(header), expected))
}
