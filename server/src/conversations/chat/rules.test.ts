import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accountPrincipal } from '../../identity/access/index.ts'
import { isOfPrincipal, isPerson, replyForm, titleOf, withHistory } from './rules.ts'

test('the format of the reply follows Accept, with JSON lines by default', () => {
  const cases: [string | undefined, string][] = [
    [undefined, 'ndjson'],
    ['', 'ndjson'],
    ['*/*', 'ndjson'],
    ['application/x-ndjson', 'ndjson'],
    ['application/json', 'json'],
    ['Application/JSON; charset=utf-8', 'json'],
    ['text/event-stream', 'sse'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'ndjson'],
    ['application/json;q=0.5, text/event-stream', 'sse'],
    ['application/json, text/plain, */*', 'json'],
    ['application/json;q=0, */*;q=0.1', 'ndjson'],
    ['image/png', 'ndjson'],
  ]
  for (const [accept, form] of cases) assert.equal(replyForm(accept), form, String(accept))
})

test('a title is the first line of the first message, at most 80 characters', () => {
  assert.equal(titleOf('\n  Hello there \nmore'), 'Hello there')
  assert.equal(titleOf('x'.repeat(100)).length, 80)
})

test('history precedes the message, oldest first, up to the limit', () => {
  const text = withHistory(
    [
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
    ],
    'three',
  )
  assert.ok(text.indexOf('one') < text.indexOf('two'))
  assert.ok(text.endsWith('\n\nthree'))
  assert.equal(withHistory([], 'three'), 'three')
  const long = withHistory(
    Array.from({ length: 10 }, (_, index) => ({
      role: 'user' as const,
      content: `${index}${'x'.repeat(40_000)}`,
    })),
    'now',
  )
  assert.ok(long.length < 151_000)
  assert.match(long, /9x/)
  assert.doesNotMatch(long, /0xxx/)
})

test('agents and connectors are not persons', () => {
  for (const holder of ['user:u1', 'email:a@example.org', 'mailbox:a@example.org'])
    assert.equal(isPerson(holder), true, holder)
  for (const holder of ['agent:a7', 'key:k1']) assert.equal(isPerson(holder), false, holder)
})

test('a conversation belongs to its holder, and to the account of its address', () => {
  const cases: [string, string, string | undefined, boolean][] = [
    ['user:u1', 'u1', 'user:u1', true],
    ['user:u1', 'u1', 'user:u2', false],
    ['user:u1', 'u1', undefined, false],
    ['email:ann@example.org', 'u1', 'user:u1', true],
    ['email:eve@example.org', 'email:eve@example.org', 'email:eve@example.org', true],
    ['mailbox:eve@example.org', 'email:eve@example.org', 'email:eve@example.org', true],
    ['email:ann@example.org', 'u1', 'email:eve@example.org', false],
    ['public:l:v1', 'public:l:v1', 'public:l:v1', true],
    ['public:l:v1', 'public:l:v1', 'public:l:v2', false],
    ['slack:c:t', 'u1', 'user:u1', false],
    ['agent:a2/public:l:v', 'u1', 'user:u1', false],
    ['key:k1', 'u1', 'user:u1', false],
  ]
  for (const [holderId, id, principal, expected] of cases) {
    const account = accountPrincipal(id)
    assert.equal(isOfPrincipal({ holderId, account }, principal), expected, `${holderId} ${principal}`)
  }
})
