import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ansiSpans, withoutAnsi } from './ansi.ts'

const look = (line: string) => ansiSpans(line).map(({ text, className }) => [text, className])

test('colours become token classes', () => {
  assert.deepEqual(look('plain'), [['plain', '']])
  assert.deepEqual(look('\x1b[31mred\x1b[0m \x1b[1;92mgreen\x1b[22m thin\x1b[m end'), [
    ['red', 'text-danger'],
    [' ', ''],
    ['green', 'text-success font-semibold'],
    [' thin', 'text-success'],
    [' end', ''],
  ])
  assert.deepEqual(look('\x1b[2mdim\x1b[32mgreen\x1b[22;39mplain'), [
    ['dim', 'text-muted'],
    ['green', 'text-success'],
    ['plain', ''],
  ])
  assert.deepEqual(look('\x1b[38;5;3mindexed\x1b[38;5;200mfar\x1b[38;2;1;2;3mtrue\x1b[41;4mon red'), [
    ['indexed', 'text-warning'],
    ['far', ''],
    ['true', ''],
    ['on red', 'bg-danger-soft underline'],
  ])
})

test('every other sequence is removed', () => {
  const link = '\x1b]8;;https://a.example\x1b\\text\x1b]8;;\x07'
  for (const [line, text] of [
    [`\x1b[2K\x1b[1A${link}`, 'text'],
    ['a\x00b\x07c\x7f\td', 'abc\td'],
    ['cut off \x1b[3', 'cut off 3'],
    ['cut off \x1b', 'cut off '],
    ['\x1b]0;never ends', ''],
  ] as const) {
    assert.equal(withoutAnsi(line), text)
    assert.equal(
      ansiSpans(line)
        .map((span) => span.text)
        .join(''),
      text,
    )
  }
})

test('1 MB of any input takes linear time', () => {
  for (const piece of ['\x1b', '\x1b[', '\x1b]8;;', '\x1b[1;', '\x1b[31mx', 'x']) {
    const startedAt = performance.now()
    const line = piece.repeat(1e6 / piece.length)
    assert.equal(
      ansiSpans(line)
        .map((span) => span.text)
        .join(''),
      withoutAnsi(line),
    )
    assert.ok(performance.now() - startedAt < 20_000, JSON.stringify(piece))
  }
})
