import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeText, formattedJson, fromEditable, languageOf, toEditable } from './text-file.ts'

test('line endings survive editing, unless they are mixed', () => {
  for (const raw of ['', 'a\nb\n', 'a\r\nb\r\n', 'one line']) assert.equal(fromEditable(toEditable(raw)), raw)
  assert.deepEqual(toEditable('a\r\nb\nc'), { text: 'a\nb\nc', ends: 'mixed' })
  assert.deepEqual(toEditable('a\rb'), { text: 'a\nb', ends: 'mixed' })
  assert.equal(fromEditable({ text: 'a\nb', ends: 'mixed' }), 'a\nb')
})

test('distinguishes binary content from text', () => {
  const utf8 = new TextEncoder()
  assert.equal(decodeText(utf8.encode('\ufeffé😀')), '\ufeffé😀')
  assert.equal(decodeText(utf8.encode('')), '')
  assert.equal(decodeText(utf8.encode('a\0b')), null)
  assert.equal(decodeText(new Uint8Array([0xff, 0xfe])), null)
  assert.equal(decodeText(utf8.encode('aé').subarray(0, 2)), null)
  assert.equal(decodeText(utf8.encode('aé').subarray(0, 2), true), 'a')
})

test('the language follows from the file name', () => {
  assert.deepEqual(['a.TS', 'Dockerfile', '.env.local', '.bashrc', 'Makefile', 'a.tar.gz'].map(languageOf), [
    'ts',
    'dockerfile',
    'env',
    'sh',
    '',
    'gz',
  ])
})

test('JSON is formatted only when the result is lossless', () => {
  assert.equal(formattedJson('a.json', '{"a":[1,2]}\n'), '{\n  "a": [\n    1,\n    2\n  ]\n}')
  for (const text of ['{"a": 1}', '{"a":1.0}', '{"a":12345678901234567890}', '{"a":1,"a":2}', '{', '1'])
    assert.equal(formattedJson('a.json', text), null, text)
  assert.equal(formattedJson('a.txt', '{"a":[1,2]}'), null)
})
