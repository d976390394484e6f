import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DigitCode, RecoveryCode } from './code-text.ts'

test('spaces and hyphens in a code are removed', () => {
  assert.equal(DigitCode.parse(' 123 4-56 '), '123456')
  assert.equal(RecoveryCode.parse('abcde-FGH23'), 'abcdeFGH23')
})

test('an impossible code is refused before it is sent', () => {
  for (const typed of ['', '12345', '1234567', 'abcdef', '１２３４５６'])
    assert.equal(DigitCode.safeParse(typed).success, false, typed)
  for (const typed of ['', '123456', 'ABCDEFGH234', 'ABCDE_GH23'])
    assert.equal(RecoveryCode.safeParse(typed).success, false, typed)
})
