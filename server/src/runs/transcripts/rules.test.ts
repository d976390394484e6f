import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxLineBytes } from '@roost/contracts/link/messages'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { maskText } from '../../kit/mask-secrets.ts'
import { numberLine, storableText } from './rules.ts'

const at = '2026-01-05T08:00:00.000Z'
const lineOf = (text: string): TranscriptLine => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})

test('a line gets a number and a time that the agent cannot choose', () => {
  const { n, line, text } = numberLine(
    { ...lineOf('hi'), _n: 99, _ts: 'x', _truncated: true } as never,
    7,
    at,
    [],
  )
  assert.equal(n, 7)
  assert.deepEqual(line, { ...lineOf('hi'), _n: 7, _ts: at })
  assert.deepEqual(JSON.parse(text), line)
})

test('a line that the agent truncated keeps the length that only the agent knows', () => {
  const marked = (over: object) => numberLine({ ...lineOf('hi'), ...over } as never, 1, at, []).line
  assert.partialDeepStrictEqual(marked({ _truncated: true, _length: 52_428_800 }), {
    _truncated: true,
    _length: 52_428_800,
  })
  for (const odd of [{ _length: 5 }, { _truncated: true, _length: '5' }, { _truncated: true, _length: -1 }]) {
    assert.deepEqual(marked(odd), { ...lineOf('hi'), _n: 1, _ts: at })
  }
  const twice = numberLine(
    { ...lineOf('x'.repeat(maxLineBytes)), _truncated: true, _length: 9e9 } as never,
    1,
    at,
    [],
  )
  assert.equal(twice.line._length, 9e9)
})

test('known secrets are masked everywhere, also in JSON inside a text', () => {
  const secret = 'svc_mcp_0123456789'
  const { text, line } = numberLine(lineOf(`key ${secret} and ${JSON.stringify({ k: secret })}`), 1, at, [
    secret,
  ])
  assert.doesNotMatch(text, /0123456789/)
  assert.match(JSON.stringify(line), /\[secret\]/)
})

test('a secret with characters that JSON escapes is found', () => {
  const secret = 'pass"word\\with\nlines'
  const { text } = numberLine(lineOf(`${secret} ${JSON.stringify(secret)}`), 1, at, [secret])
  assert.doesNotMatch(text, /word/)
  assert.doesNotMatch(maskText(`plain ${secret}`, [secret]), /word/)
})

test('a secret that looks like structure does not break the line', () => {
  const { text } = numberLine(lineOf('harmless'), 1, at, ['"type":"text"'])
  assert.deepEqual(JSON.parse(text).message.content, [{ type: 'text', text: 'harmless' }])
})

test('the longer of two secrets is masked whole; values too short for a secret are not masked', () => {
  assert.equal(maskText('abcdefgh-ijklmnop', ['abcdefgh', 'abcdefgh-ijklmnop']), '[secret]')
  assert.equal(maskText('a short word', ['short']), 'a short word')
})

test('a line of exactly 1 MiB is stored whole; a longer one is truncated and marked with its length', () => {
  const overhead = Buffer.byteLength(JSON.stringify({ ...lineOf(''), _n: 1, _ts: at }))
  const whole = numberLine(lineOf('x'.repeat(maxLineBytes - overhead)), 1, at, [])
  assert.equal(Buffer.byteLength(whole.text), maxLineBytes)
  assert.equal(whole.line._truncated, undefined)
  const cut = numberLine(lineOf('x'.repeat(maxLineBytes - overhead + 1)), 1, at, [])
  assert.equal(cut.line._truncated, true)
  assert.equal(cut.line._length, maxLineBytes + 1)
  assert.ok(Buffer.byteLength(cut.text) <= maxLineBytes)
  assert.equal(cut.line.type, 'assistant')
  assert.match(cut.text, /xxxx/)
})

test('truncation leaves no lone surrogate', () => {
  const { text } = numberLine(lineOf('😀'.repeat(1024 * 1024)), 1, at, [])
  assert.ok(JSON.parse(text).message.content[0].text.isWellFormed())
})

test('a line with too many short parts keeps its type and is marked as truncated', () => {
  const content = Array.from({ length: 60_000 }, (_, index) => ({ type: 'text', text: `part ${index}` }))
  const { line, text } = numberLine(
    { type: 'assistant', message: { role: 'assistant', content } } as never,
    3,
    at,
    [],
  )
  assert.ok(Buffer.byteLength(text) <= maxLineBytes)
  assert.deepEqual(
    { ...line, _length: 0 },
    { type: 'assistant', _n: 3, _ts: at, _truncated: true, _length: 0 },
  )
})

test('storable text has no U+0000 and no lone surrogates', () => {
  assert.equal(storableText('a\0b\ud800c'), 'a\ufffdb\ufffdc')
})

test('a line nested too deeply to serialize keeps its type and is marked as truncated', () => {
  const depth = 100_000
  const deep = JSON.parse(`{"type":"assistant","x":${'['.repeat(depth)}${']'.repeat(depth)}}`)
  const { text, line } = numberLine(deep, 4, at, [])
  assert.deepEqual(JSON.parse(text), line)
  assert.deepEqual(line, { type: 'assistant', _n: 4, _ts: at, _truncated: true, _length: 0 })
})
