import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roles } from '@roost/contracts/kit/access'
import { demandOf, readCode } from './rules.ts'

test('a second factor is required if the account has one or its role must have one', () => {
  const enrolled = { mfa_enrolled: true, enrollment_required: false }
  const mustEnrol = { mfa_enrolled: false, enrollment_required: true }
  for (const role of roles) {
    for (const [mfa_enrolled_at, required, demand] of [
      [null, [], null],
      [null, [role], mustEnrol],
      [null, roles.filter((other) => other !== role), null],
      ['2030-01-01T00:00:00.000Z', [], enrolled],
      ['2030-01-01T00:00:00.000Z', [role], enrolled],
    ] as const)
      assert.deepEqual(demandOf({ role, mfa_enrolled_at }, required), demand, `${role} ${required}`)
  }
})

test('a code may be typed with spaces, dashes and lower case', () => {
  for (const [typed, read] of [
    ['123456', { kind: 'totp', text: '123456' }],
    [' 123 456\n', { kind: 'totp', text: '123456' }],
    ['abcde-fgh23', { kind: 'recovery', text: 'ABCDEFGH23' }],
    ['ABCDEFGH23', { kind: 'recovery', text: 'ABCDEFGH23' }],
    ['12345', null],
    ['1234567', null],
    ['ABCDEFGH2', null],
    ['ABCDEFGH234', null],
    ['ABCDEFGH2!', null],
    ['', null],
  ] as const)
    assert.deepEqual(readCode(typed), read, typed)
})
