import assert from 'node:assert/strict'
import { test } from 'node:test'
import { strengthOf } from './password-strength.ts'

for (const [password, level] of [
  ['short', 0],
  ['aaaaaaaaaaaaaaaa', 1],
  ['abcabcabcabcabc', 1],
  ['correct horse', 2],
  ['correct horse battery staple', 3],
] as const) {
  test(`"${password}" is of level ${level}`, () => assert.equal(strengthOf(password, 12).level, level))
}

test('counts the missing characters', () => {
  assert.equal(strengthOf('elevenchars', 12).words, '1 more character needed')
})
