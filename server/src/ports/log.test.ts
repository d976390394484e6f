import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactText } from '@roost/contracts/kit/redact'
import { secret } from '../kit/secret.ts'
import { createLog, type LogLevel, redactFields } from './log.ts'

function open(level: LogLevel = 'debug') {
  const lines: string[] = []
  const log = createLog({ level, destination: { write: (line: string) => void lines.push(line) } })
  return { log, lines, last: (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? '{}') }
}

test('a line is one JSON object with level, time, fields and message', () => {
  const { log, last } = open()
  log.child({ process: 'api' }).info({ agent: 'wren', count: 2 }, 'agent started')
  const { time, ...rest } = last()
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.deepEqual(rest, { level: 'info', process: 'api', agent: 'wren', count: 2, msg: 'agent started' })
})

test('lines below the level are not written', () => {
  const { log, lines } = open('warn')
  log.info({}, 'no')
  log.debug({}, 'no')
  log.warn({}, 'yes')
  assert.equal(lines.length, 1)
  assert.equal(log.isDebug(), false)
  assert.equal(open('debug').log.isDebug(), true)
})

test('values under secret names are masked at any depth', () => {
  const { log, lines, last } = open()
  log.info(
    {
      password: 'hunter2',
      headers: { Authorization: 'Bearer hunter2hunter2', cookie: 'sid=hunter2' },
      list: [{ api_key: 'hunter2', apiKey: 'hunter2', client_secret: 'hunter2' }],
      token: { nested: 'hunter2' },
      encryption_key: 'hunter2',
      input_tokens: 12,
      key_id: 'k1',
    },
    'signing in',
  )
  assert.doesNotMatch(lines.join(''), /hunter2/)
  assert.deepEqual([last().input_tokens, last().key_id], [12, 'k1'])
})

test('text in the form of a key is masked everywhere', () => {
  const key = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_abcde'
  for (const shaped of [
    `svc_mcp_${key}`,
    `whsec_${key}`,
    `sk-ant-api03-${key}`,
    `sk-proj-${key}`,
    `AIza${key}`,
    'ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789',
    'github_pat_AbCdEfGhIjKlMnOpQrStUv_0123456789',
    'xoxb-123456789012-abcdefghijkl',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1MSJ9.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg',
    `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----`,
  ]) {
    const { log, lines } = open()
    log.error({ text: `before ${shaped} after`, err: new Error(`refused ${shaped}`) }, `sentence ${shaped}`)
    assert.ok(!lines.join('').includes(shaped.slice(-12)), shaped)
    assert.match(lines.join(''), /before \[secret\] after/)
  }
})

test('passwords and tokens in addresses are masked', () => {
  assert.equal(redactText('postgres://roost:hunter2@db:5432/x'), 'postgres://roost:[secret]@db:5432/x')
  assert.equal(redactText('redis://:hunter2@cache'), 'redis://:[secret]@cache')
  assert.equal(
    redactText('/ws/events?token=hunter2&last_event_id=3'),
    '/ws/events?token=[secret]&last_event_id=3',
  )
  assert.equal(redactText('Authorization: Bearer hunter2hunter2'), 'Authorization: Bearer [secret]')
})

test('plain text is unchanged', () => {
  for (const text of ['', 'agent wren started', 'http://localhost:8000/api/agents', 'task-sk-1', 'a: b@c']) {
    assert.equal(redactText(text), text)
  }
})

test('wrapped secrets, bytes, circular references and dates are safe', () => {
  const { log, last } = open()
  const circle: Record<string, unknown> = { name: 'circle' }
  circle.self = circle
  log.info(
    { it: secret('hunter2'), key: new Uint8Array(32), circle, at: new Date(0), big: 5n, none: null },
    'things',
  )
  const { it, key, circle: drawn, at, big, none } = last()
  assert.deepEqual(
    { it, key, drawn, at, big, none },
    {
      it: '[secret]',
      key: '[32 bytes]',
      drawn: { name: 'circle', self: '[circular]' },
      at: '1970-01-01T00:00:00.000Z',
      big: '5',
      none: null,
    },
  )
})

test('an error is logged with its class, stack, other fields and causes', () => {
  const { log, last } = open()
  const error = Object.assign(new TypeError('outer', { cause: new Error('inner') }), { code: 'E1' })
  log.error({ err: error }, 'it failed')
  const { err } = last() as { err: Record<string, unknown> & { cause: { message: string } } }
  assert.equal(err.type, 'TypeError')
  assert.equal(err.message, 'outer')
  assert.equal(err.code, 'E1')
  assert.match(String(err.stack), /log\.test\.ts/)
  assert.equal(err.cause.message, 'inner')
})

test('long text with repeated beginnings of secrets is processed quickly', () => {
  for (const begun of [
    'a.',
    'eyJ-',
    'a://b:',
    'eyJabcde.',
    'sk-',
    'Bearer ',
    '-----BEGIN ',
    'svc_a',
    '?key',
  ]) {
    const text = begun.repeat(1_000_000)
    const { given } = redactFields({ given: text })
    assert.match(String(given), / \[\d+ characters omitted\]$/)
    // Forwarded messages are masked completely.
    redactText(text.slice(0, 200_000))
  }
})

test('text beyond the length limit is cut off, and its secrets are masked', () => {
  const { log, last } = open()
  const long = `${'x'.repeat(32_000)} svc_mcp_${'k'.repeat(43)} ${'y'.repeat(5_000)}`
  log.warn({ err: new Error(long), long }, long)
  const line = JSON.stringify(last())
  assert.doesNotMatch(line, /svc_mcp_/)
  assert.match(String(last().msg), /\[secret\] y+ \[\d+ characters omitted\]$/)
})
