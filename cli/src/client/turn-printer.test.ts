import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurnPrinter, type Streamed } from './turn-printer.ts'

function printed(...objects: Streamed[]): { out: string; aside: string } {
  let out = ''
  let aside = ''
  const printer = createTurnPrinter(
    (text) => (out += text),
    (text) => (aside += text),
  )
  for (const object of objects) printer.take(object)
  printer.end()
  return { out, aside }
}
const piece = (text: string, at?: number): Streamed => ({ type: 'partial', kind: 'text', text, at })
const block = (text: string): Streamed => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})

test('a block that follows its own pieces is not printed again', () =>
  assert.equal(printed(piece('hel', 0), piece('lo', 3), block('hello')).out, 'hello\n'))
test('neither is a block whose pieces have no position', () =>
  assert.equal(printed(piece('hel'), piece('lo'), block('hello')).out, 'hello\n'))
test('a piece repeated after a reconnection is printed once', () =>
  assert.equal(printed(piece('hel', 0), piece('hello', 0), block('hello you')).out, 'hello you\n'))
test('blocks without pieces are printed whole, each on its own line', () =>
  assert.equal(printed(block('one'), block('two')).out, 'one\ntwo\n'))
test('control characters from an agent do not reach the terminal', () =>
  assert.equal(printed(block('a\u001b[2Jb\u0007\tc')).out, 'a[2Jb\tc\n'))
test('tools and errors go to the side output, not into the answer', () => {
  const { out, aside } = printed(
    {
      type: 'assistant',
      message: {
        role: 'assistant',
        content: [{ type: 'tool_use', id: '1', name: 'Bash', input: { command: 'ls\n-la' } }],
      },
    },
    { type: 'error', error: 'x', message: 'gone', retryable: false },
  )
  assert.equal(out, '')
  assert.equal(aside, '· Bash {"command":"ls\\n-la"}\n! gone\n')
})
