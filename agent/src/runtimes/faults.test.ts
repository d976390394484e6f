import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf, endedWithoutResult } from './faults.ts'

test('a status or message maps to the named reason', () => {
  const named: [number | null, string, string][] = [
    [429, 'slow down', 'rate_limited'],
    [401, 'bad key', 'auth'],
    [403, 'run not running', 'auth'],
    [402, 'pay', 'billing'],
    [402, 'cap_reached: the daily cap of this agent is spent', 'cap_reached'],
    [400, 'Your credit balance is too low to access the API.', 'billing'],
    [404, 'model: claude-nope', 'model_unsupported'],
    [529, 'Overloaded', 'agent_error'],
    [500, 'scripted', 'agent_error'],
    [null, 'TypeError: fetch failed', 'network'],
    [null, 'API Error: Unable to connect to API (ECONNREFUSED)', 'network'],
    [null, 'exceeded retry limit, last status: 429 Too Many Requests', 'rate_limited'],
    [400, 'no such field', 'agent_error'],
  ]
  for (const [status, message, code] of named) assert.equal(codeOf({ status, message }), code, message)
})

test('a process that ends silently has no result, one with output has an error, a killed one may be out of memory', () => {
  const rest = { metadata: {}, sessionId: null }
  const silent = endedWithoutResult({ code: 0, signal: null, stderr: '', isOutOfMemory: false }, rest)
  assert.equal(silent.errorCode, 'no_result')
  assert.equal(silent.terminalReason, 'empty_result')
  const loud = endedWithoutResult(
    { code: 1, signal: null, stderr: 'no such flag', isOutOfMemory: false },
    rest,
  )
  assert.equal(loud.errorCode, 'agent_error')
  assert.match(loud.error ?? '', /no such flag/)
  const killed = endedWithoutResult({ code: null, signal: 'SIGKILL', stderr: '', isOutOfMemory: true }, rest)
  assert.equal(killed.errorCode, 'oom')
})
