import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createEventParser,
  createLineParser,
  maxBufferedLength,
  objectOf,
  type Parser,
  StreamTooLong,
} from './stream-parsers.ts'

function feed<T>(parser: Parser<T>, pieces: Iterable<string>): T[] {
  const found: T[] = []
  for (const piece of pieces) found.push(...parser.push(piece))
  return [...found, ...parser.end()]
}

test('lines do not depend on chunk boundaries', () => {
  const text = 'one\r\ntwo\n\rthree\r\r\nfünf 🚀'
  const expected = ['one', 'two', '', 'three', '', 'fünf 🚀']
  assert.deepEqual(feed(createLineParser(), [text]), expected)
  assert.deepEqual(feed(createLineParser(), text.split('')), expected)
  for (let cut = 0; cut <= text.length; cut += 1) {
    assert.deepEqual(
      feed(createLineParser(), [text.slice(0, cut), text.slice(cut)]),
      expected,
      `cut at ${cut}`,
    )
  }
})

test('a line of 8 MB in small chunks takes linear time', () => {
  const piece = 'x'.repeat(1024)
  const startedAt = performance.now()
  const [line] = feed(createLineParser(), [...Array.from({ length: 8192 }, () => piece), '\n'])
  assert.equal(line?.length, 8 * 1024 * 1024)
  assert.ok(performance.now() - startedAt < 20_000)
})

test('a line without end fails at the size limit', () => {
  const parser = createLineParser()
  const piece = 'x'.repeat(8 * 1024 * 1024)
  assert.throws(() => {
    for (let length = 0; length <= maxBufferedLength; length += piece.length) parser.push(piece)
  }, StreamTooLong)
})

test('an event has its id and data; comments and unknown fields are ignored', () => {
  const text =
    '\uFEFF: keepalive\n\nid: 1\ndata: {"a":1}\n\n: keepalive\n\nevent: x\nretry: 5\ndata:first\ndata: second\n\nid: 9\n\ndata\n\n'
  const expected = [
    { id: '1', data: '{"a":1}' },
    { id: null, data: 'first\nsecond' },
    { id: null, data: '' },
  ]
  assert.deepEqual(feed(createEventParser(), [text]), expected)
  assert.deepEqual(feed(createEventParser(), text.split('')), expected)
  assert.deepEqual(feed(createEventParser(), [text.replaceAll('\n', '\r\n')]), expected)
})

test('an incomplete event is dropped', () => {
  assert.deepEqual(feed(createEventParser(), ['id: 1\ndata: {"whole":true}\n\nid: 2\ndata: {"ha']), [
    { id: '1', data: '{"whole":true}' },
  ])
})

test('a value that is not an object with a type gives null', () => {
  assert.deepEqual(objectOf('{"type":"done","x":1}'), { type: 'done', x: 1 })
  for (const text of ['', 'x', 'null', '3', '[]', '{}', '{"type":1}', '{"type":"a"'])
    assert.equal(objectOf(text), null)
})
