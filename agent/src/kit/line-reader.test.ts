import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLineReader, type RawLine } from './line-reader.ts'

function read(chunks: (string | Buffer)[], limits?: { maxBytes: number; maxStringBytes: number }): RawLine[] {
  const lines: RawLine[] = []
  const reader = createLineReader((line) => lines.push(line), limits)
  for (const chunk of chunks) reader.push(Buffer.from(chunk))
  reader.end()
  return lines
}

test('lines are complete however the chunks are split', () => {
  const bytes = Buffer.from('{"a":"ä€😀"}\n\n{"b":2}\r\nlast')
  for (let size = 1; size < bytes.length; size += 1) {
    const chunks = []
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
    assert.deepEqual(
      read(chunks).map(({ text }) => text.trim()),
      ['{"a":"ä€😀"}', '{"b":2}', 'last'],
    )
  }
})

test('invalid UTF-8 is replaced and affects nothing else', () => {
  const lines = read([Buffer.from([0x22, 0xff, 0xc3, 0x22, 0x0a]), '"ok"\n'])
  assert.equal(JSON.parse(lines[0]?.text ?? ''), '��')
  assert.equal(JSON.parse(lines[1]?.text ?? ''), 'ok')
})

test('a line above the limit keeps its structure and the beginnings of its strings', () => {
  const long = 'é'.repeat(5000)
  const text = JSON.stringify({
    type: 'result',
    text: long,
    after: { is_error: false },
    list: [long, 'short'],
  })
  for (const size of [1, 7, 4096, text.length * 2]) {
    const bytes = Buffer.from(`${text}\n{"next":1}\n`)
    const chunks = []
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
    const [line, next] = read(chunks, { maxBytes: 3000, maxStringBytes: 100 })
    assert.equal(line?.isCut, true)
    assert.equal(line?.bytes, Buffer.byteLength(text))
    const value = JSON.parse(line?.text ?? '')
    assert.equal(value.type, 'result')
    assert.equal(value.text, 'é'.repeat(50))
    assert.deepEqual(value.after, { is_error: false })
    assert.deepEqual(value.list, ['é'.repeat(50), 'short'])
    assert.deepEqual(JSON.parse(next?.text ?? ''), { next: 1 })
    assert.equal(next?.isCut, false)
  }
})

test('truncation never splits an escape sequence', () => {
  for (let pad = 0; pad < 12; pad += 1) {
    const text = `{"t":"${'x'.repeat(pad)}${'\\u00e9\\n\\"'.repeat(400)}","end":true}`
    const [line] = read([`${text}\n`], { maxBytes: 500, maxStringBytes: 64 })
    const value = JSON.parse(line?.text ?? '')
    assert.equal(value.end, true)
    assert.ok(value.t.length <= 64)
  }
})

test('a 50 MB line is read with a few MB of memory', () => {
  const before = process.memoryUsage().rss
  let lines = 0
  const reader = createLineReader((line) => {
    lines += 1
    assert.equal(line.bytes, 50 * 1024 * 1024 + 8)
  })
  reader.push(Buffer.from('{"t":"'))
  const chunk = Buffer.alloc(64 * 1024, 'x')
  for (let index = 0; index < 800; index += 1) reader.push(Buffer.from(chunk))
  reader.push(Buffer.from('"}\n'))
  assert.equal(lines, 1)
  assert.ok(process.memoryUsage().rss - before < 100 * 1024 * 1024)
})
