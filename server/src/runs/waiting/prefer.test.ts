import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferredWaitMs } from './prefer.ts'

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
