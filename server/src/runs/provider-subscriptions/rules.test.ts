import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { authModeOf, bucketOf, failureOf, isAfter, nextOf } from './rules.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const at = now.toISOString()
const later = '2026-03-01T13:00:00.000Z'

describe('the failure in a provider response', () => {
  const until = (status: number, headers: Record<string, string> = {}) => {
    const failure = failureOf({ status, headers, body: null }, now)
    return failure && [failure.kind, failure.until.toISOString()]
  }

  test('a limit lasts until the provider window resets, else its wait, else five minutes', () => {
    const reset = String(Date.parse('2026-03-01T15:00:00Z') / 1000)
    const both = { 'anthropic-ratelimit-unified-reset': reset, 'retry-after': '7' }
    assert.deepEqual(until(429, both), ['limited', '2026-03-01T15:00:00.000Z'])
    assert.deepEqual(until(429, { 'retry-after': '90' }), ['limited', '2026-03-01T12:01:30.000Z'])
    const date = { 'retry-after': 'Sun, 01 Mar 2026 12:10:00 GMT' }
    assert.deepEqual(until(429, date), ['limited', '2026-03-01T12:10:00.000Z'])
    assert.deepEqual(until(429), ['limited', '2026-03-01T12:05:00.000Z'])
    for (const wait of ['soon', '-1'])
      assert.deepEqual(until(429, { 'retry-after': wait }), ['limited', '2026-03-01T12:05:00.000Z'])
  })

  test('a limit lasts at least a minute and at most a week', () => {
    assert.deepEqual(until(429, { 'retry-after': '1' }), ['limited', '2026-03-01T12:01:00.000Z'])
    assert.deepEqual(until(429, { 'retry-after': '99999999' }), ['limited', '2026-03-08T12:00:00.000Z'])
  })

  test('401, 402 and 403 refuse the token; overload, bad requests and successes do not', () => {
    for (const status of [401, 402, 403]) assert.deepEqual(until(status), ['refused', later])
    for (const status of [200, 400, 404, 413, 500, 529]) assert.equal(until(status), null)
  })

  const google = (status: number, details: object[], wrap = (body: object): unknown => body) => {
    const body = JSON.stringify(wrap({ error: { code: status, message: 'no', status: 'X', details } }))
    const failure = failureOf({ status, headers: {}, body }, now)
    return failure && [failure.kind, failure.until.toISOString()]
  }

  test('Google reports a bad key as 400 with a reason, and a wait in the body', () => {
    const invalid = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }
    assert.deepEqual(google(400, [invalid]), ['refused', later])
    assert.deepEqual(
      google(400, [invalid], (body) => [body]),
      ['refused', later],
    )
    assert.equal(google(400, [{ reason: 'FIELD_VIOLATION' }]), null)
    assert.equal(google(400, []), null)
    assert.deepEqual(google(403, [{ reason: 'SERVICE_DISABLED' }]), ['refused', later])
    const wait = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '90.5s' }
    assert.deepEqual(google(429, [{ violations: [] }, wait]), ['limited', '2026-03-01T12:01:30.500Z'])
    assert.deepEqual(google(429, []), ['limited', '2026-03-01T12:05:00.000Z'])
    for (const body of ['no JSON', '{}', '[]', 'null', '{"error":{"details":7}}'])
      assert.equal(failureOf({ status: 400, headers: {}, body }, now), null, body)
  })
})

describe('the next subscription', () => {
  const free = { limited_until: null, refused_until: null }
  const of = (...all: [string, Partial<typeof free | Record<keyof typeof free, string>>?][]) =>
    all.map(([name, over]) => ({ id: name, name, ...free, ...over }))

  test('is the next one by name, then the first', () => {
    assert.equal(nextOf(of(['c'], ['a'], ['b']), 'a', at)?.name, 'b')
    assert.equal(nextOf(of(['c'], ['a'], ['b']), 'c', at)?.name, 'a')
  })

  test('skips limited and refused ones, and may be null', () => {
    const [limited, refused] = [{ limited_until: later }, { refused_until: later }]
    assert.equal(nextOf(of(['a'], ['b', limited], ['c', refused], ['d']), 'a', at)?.name, 'd')
    assert.equal(nextOf(of(['a'], ['b', limited]), 'a', at), null)
    assert.equal(nextOf(of(['a']), 'a', at), null)
    assert.equal(nextOf(of(['a'], ['b', { limited_until: at }]), 'a', at)?.name, 'b', 'it has ended')
  })
})

test('a subscription takes precedence over a key; without both the mode is not_configured', () => {
  assert.equal(authModeOf({ subscription: true, apiKey: true }), 'subscription')
  assert.equal(authModeOf({ subscription: false, apiKey: true }), 'api_key')
  assert.equal(authModeOf({ subscription: false, apiKey: false }), 'not_configured')
})

test('usage is counted in buckets of five minutes', () => {
  assert.equal(bucketOf(new Date('2026-03-01T12:09:59.999Z')).toISOString(), '2026-03-01T12:05:00.000Z')
  assert.equal(isAfter(null, at), false)
})
