import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPerson, replyForm, titleOf, withHistory } from './rules.ts'

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
