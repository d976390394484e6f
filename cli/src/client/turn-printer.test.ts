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

test('pieces and the whole block behind them stand there once', () =>
  assert.equal(printed(piece('hel', 0), piece('lo', 3), block('hello')).out, 'hello\n'))
test('so do pieces that do not tell their place', () =>
  assert.equal(printed(piece('hel'), piece('lo'), block('hello')).out, 'hello\n'))
test('a piece that comes again after a reconnection is not written twice', () =>
  assert.equal(printed(piece('hel', 0), piece('hello', 0), block('hello you')).out, 'hello you\n'))
test('blocks without pieces are written whole, each on its own line', () =>
  assert.equal(printed(block('one'), block('two')).out, 'one\ntwo\n'))
test('what an agent writes cannot control the terminal', () =>
  assert.equal(printed(block('a\u001b[2Jb\u0007\tc')).out, 'a[2Jb\tc\n'))
test('tools and errors are told beside the answer', () => {
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
