import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusedDelay, retryDelay } from './retry.ts'

test('the first retries follow within half a second', () => {
  for (let attempt = 1; attempt <= 30; attempt += 1) {
    assert.ok(retryDelay(attempt, 0) >= 250)
    assert.ok(retryDelay(attempt, 0.999) <= 500)
  }
})

test('later delays double up to 3 s and vary by up to half', () => {
  assert.equal(retryDelay(31, 0.999_999), 1000)
  assert.equal(retryDelay(1000, 0.999_999), 3000)
  assert.equal(retryDelay(1000, 0), 1500)
})

test('a refused link is retried slowly', () => {
  assert.equal(refusedDelay(0), 7500)
  assert.equal(refusedDelay(0.999_999), 15_000)
})
