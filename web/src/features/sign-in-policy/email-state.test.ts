import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailStateOf } from './email-state.ts'

const touched = '2026-01-01T00:00:00Z'

test('sign-in by e-mail is on when the platform offers it', () => {
  assert.equal(emailStateOf(true, { value: 'true', updated_at: null }), 'on')
})

test('off: an admin has switched it off', () => {
  assert.equal(emailStateOf(false, { value: 'false', updated_at: touched }), 'off')
})

test('without a mail server: enabled without effect, or never changed', () => {
  assert.equal(emailStateOf(false, { value: 'true', updated_at: touched }), 'no_mail')
  assert.equal(emailStateOf(false, { value: 'false', updated_at: null }), 'no_mail')
})
