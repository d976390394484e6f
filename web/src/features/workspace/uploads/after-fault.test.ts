import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@roost/contracts/client'
import type { ErrorCode } from '@roost/contracts/kit/errors'
import { maxRestarts, maxRetries, pauseMs, stepAfter, UnreadableFile } from './after-fault.ts'

const fresh = { retries: 0, restarts: 0 }
const refusal = (status: number, error: ErrorCode) => new ApiError(status, { detail: 'no', error })

test('a lost connection and a busy platform are retried, a bounded number of times', () => {
  for (const error of [
    new TypeError('Failed to fetch'),
    new ApiError(502, null),
    refusal(503, 'stopping'),
    refusal(504, 'agent_unresponsive'),
    refusal(408, 'request_timeout'),
    refusal(429, 'rate_limited'),
  ]) {
    assert.equal(stepAfter(error, fresh), 'retry', error.message)
    assert.equal(stepAfter(error, { retries: maxRetries, restarts: 0 }), 'fail', error.message)
  }
})

test('a lost beginning restarts the file', () => {
  const lost = refusal(409, 'upload_expired')
  assert.equal(stepAfter(lost, { retries: maxRetries, restarts: 0 }), 'restart')
  assert.equal(stepAfter(lost, { retries: 0, restarts: maxRestarts }), 'fail')
})

test('a refusal fails', () => {
  for (const error of [
    refusal(409, 'disk_quota_reached'),
    refusal(409, 'agent_stopped'),
    refusal(403, 'protected_path'),
    refusal(401, 'session_expired'),
    new UnreadableFile(new Error('changed')),
  ])
    assert.equal(stepAfter(error, fresh), 'fail', error.message)
})

test('pauses double up to 30 s', () => {
  assert.deepEqual([0, 1, 2, 9].map(pauseMs), [1000, 2000, 4000, 30_000])
})
