import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxLineBytes } from '@roost/contracts/link/messages'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { maskText } from '../../kit/mask-secrets.ts'
import { keepLine, storableText } from './rules.ts'

const at = '2026-01-05T08:00:00.000Z'
const said = (text: string): TranscriptLine => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})

test('a line is kept with its number and time, which an agent cannot choose', () => {
  const { n, line, text } = keepLine(
    { ...said('hi'), _n: 99, _ts: 'x', _truncated: true } as never,
    7,
    at,
    [],
  )
  assert.equal(n, 7)
  assert.deepEqual(line, { ...said('hi'), _n: 7, _ts: at })
  assert.deepEqual(JSON.parse(text), line)
})

test('what the agent has cut itself keeps the length that only the agent knows', () => {
  const marked = (over: object) => keepLine({ ...said('hi'), ...over } as never, 1, at, []).line
  assert.partialDeepStrictEqual(marked({ _truncated: true, _length: 52_428_800 }), {
    _truncated: true,
    _length: 52_428_800,
  })
  for (const odd of [{ _length: 5 }, { _truncated: true, _length: '5' }, { _truncated: true, _length: -1 }]) {
    assert.deepEqual(marked(odd), { ...said('hi'), _n: 1, _ts: at })
  }
  const twice = keepLine(
    { ...said('x'.repeat(maxLineBytes)), _truncated: true, _length: 9e9 } as never,
    1,
    at,
    [],
  )
  assert.equal(twice.line._length, 9e9)
})

test('known secrets are blotted out wherever they stand, also inside JSON within a text', () => {
  const secret = 'svc_mcp_0123456789'
  const { text, line } = keepLine(said(`key ${secret} and ${JSON.stringify({ k: secret })}`), 1, at, [secret])
  assert.doesNotMatch(text, /0123456789/)
  assert.match(JSON.stringify(line), /\[secret\]/)
})

test('a secret with characters that JSON escapes is found', () => {
  const secret = 'pass"word\\with\nlines'
  const { text } = keepLine(said(`${secret} ${JSON.stringify(secret)}`), 1, at, [secret])
  assert.doesNotMatch(text, /word/)
  assert.doesNotMatch(maskText(`plain ${secret}`, [secret]), /word/)
})

test('a secret that looks like structure does not break the line', () => {
  const { text } = keepLine(said('harmless'), 1, at, ['"type":"text"'])
  assert.deepEqual(JSON.parse(text).message.content, [{ type: 'text', text: 'harmless' }])
})

test('the longer of two secrets is replaced whole; words too short to be secrets are left', () => {
  assert.equal(maskText('abcdefgh-ijklmnop', ['abcdefgh', 'abcdefgh-ijklmnop']), '[secret]')
  assert.equal(maskText('a short word', ['short']), 'a short word')
})

test('a line of just 1 MiB is kept whole, a longer one is cut and says its length', () => {
  const overhead = Buffer.byteLength(JSON.stringify({ ...said(''), _n: 1, _ts: at }))
  const whole = keepLine(said('x'.repeat(maxLineBytes - overhead)), 1, at, [])
  assert.equal(Buffer.byteLength(whole.text), maxLineBytes)
  assert.equal(whole.line._truncated, undefined)
  const cut = keepLine(said('x'.repeat(maxLineBytes - overhead + 1)), 1, at, [])
  assert.equal(cut.line._truncated, true)
  assert.equal(cut.line._length, maxLineBytes + 1)
  assert.ok(Buffer.byteLength(cut.text) <= maxLineBytes)
  assert.equal(cut.line.type, 'assistant')
  assert.match(cut.text, /xxxx/)
})

test('a cut does not leave half a character', () => {
  const { text } = keepLine(said('😀'.repeat(1024 * 1024)), 1, at, [])
  assert.ok(JSON.parse(text).message.content[0].text.isWellFormed())
})

test('a line of very many short parts keeps its type and is marked', () => {
  const content = Array.from({ length: 60_000 }, (_, index) => ({ type: 'text', text: `part ${index}` }))
  const { line, text } = keepLine(
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

test('text is made storable: no U+0000, no half characters', () => {
  assert.equal(storableText('a\0b\ud800c'), 'a\ufffdb\ufffdc')
})

test('a line that is nested deeper than can be written keeps its type and is marked', () => {
  const depth = 100_000
  const deep = JSON.parse(`{"type":"assistant","x":${'['.repeat(depth)}${']'.repeat(depth)}}`)
  const { text, line } = keepLine(deep, 4, at, [])
  assert.deepEqual(JSON.parse(text), line)
  assert.deepEqual(line, { type: 'assistant', _n: 4, _ts: at, _truncated: true, _length: 0 })
})
