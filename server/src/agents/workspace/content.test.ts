import assert from 'node:assert/strict'
import { test } from 'node:test'
import { disposition, inlineType, parseRange } from './content.ts'

test('only types that browsers cannot execute are shown as themselves', () => {
  assert.equal(inlineType('a.png'), 'image/png')
  assert.equal(inlineType('A.JPG'), 'image/jpeg')
  for (const name of ['a.html', 'a.svg', 'a.js', 'a.xml', 'Makefile', '.gitignore', 'a.md']) {
    assert.equal(inlineType(name), 'text/plain; charset=utf-8', name)
  }
  for (const name of ['a.exe', 'a', 'a.zip', 'a.xhtml', 'a.swf']) assert.equal(inlineType(name), null, name)
})

test('file names cannot break out of their header', () => {
  const header = disposition('attachment', 'we"ird\r\n\\%é😀\ud800.txt')
  assert.match(header, /^attachment; filename="[\x20-\x7e]+"; filename\*=UTF-8''[A-Za-z0-9%._-]+$/)
  assert.equal(header.split('"').length, 3)
})

for (const [header, size, expected] of [
  [undefined, 10, 'all'],
  ['bytes=0-3', 10, { start: 0, end: 3 }],
  ['bytes=5-', 10, { start: 5, end: 9 }],
  ['bytes=-3', 10, { start: 7, end: 9 }],
  ['bytes=-30', 10, { start: 0, end: 9 }],
  ['bytes=0-100', 10, { start: 0, end: 9 }],
  ['bytes=9-9', 10, { start: 9, end: 9 }],
  ['bytes=10-', 10, 'outside'],
  ['bytes=-0', 10, 'outside'],
  ['bytes=0-', 0, 'outside'],
  ['bytes=5-2', 10, 'all'],
  ['bytes=-', 10, 'all'],
  ['bytes=0-1,3-4', 10, 'all'],
  ['items=0-1', 10, 'all'],
  ['bytes=99999999999999999999-', 10, 'all'],
] as const) {
  test(`range ${header} of ${size} bytes`, () => assert.deepEqual(parseRange(header, size), expected))
}
