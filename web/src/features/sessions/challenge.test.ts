import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@roost/contracts/client'
import { challengeIn } from './challenge.ts'

const challenge = { mfa_required: true, mfa_enrolled: true, enrollment_required: false, challenge_token: 't' }

test('a refusal for a missing second factor contains the challenge', () => {
  const body = { detail: 'mfa_required', error: 'mfa_required', request_id: 'r', ...challenge } as const
  assert.deepEqual(challengeIn(new ApiError(403, body)), challenge)
})

test('other refusals, and those without a token, contain no challenge', () => {
  const wrong = new ApiError(401, { detail: 'wrong', error: 'invalid_credentials', ...challenge })
  const empty = new ApiError(403, { detail: 'mfa_required', error: 'mfa_required' })
  for (const error of [wrong, empty, new ApiError(403, null), new TypeError('fetch failed')])
    assert.equal(challengeIn(error), null)
})
