import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NumberedLine } from './rules.ts'
import { maxToolsPerLine, summaryOf, toolsIn } from './tool-rules.ts'

const at = '2026-01-05T08:00:00.000Z'
const stored = (n: number, line: object): NumberedLine => ({
  n,
  line: { ...line, _n: n, _ts: at } as never,
  text: '',
})

test('calls and results are found in order', () => {
  const lines = [
    stored(1, {
      type: 'assistant',
      message: { content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls  -l\n' } }] },
    }),
    stored(2, {
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 't1', content: 'a\nb', is_error: true }] },
    }),
  ]
  assert.deepEqual(toolsIn(lines), {
    started: [{ id: 't1', n: 1, tool: 'Bash', input_summary: 'ls -l', at }],
    ended: [{ id: 't1', output_summary: 'a b', success: false, at }],
  })
})

test('lines of unexpected shape are ignored', () => {
  const odd = [
    { type: 'assistant' },
    { type: 'assistant', message: null },
    { type: 'assistant', message: { content: 'text' } },
    { type: 'user', message: { content: [null, 1, { type: 'tool_result' }, { type: 'tool_use', id: 1 }] } },
    { type: 'assistant', message: { content: [{ type: 'tool_use', id: 'x' }] } },
  ]
  assert.deepEqual(toolsIn(odd.map((line, index) => stored(index + 1, line))), { started: [], ended: [] })
})

test('of a line with very many calls, the first are recorded', () => {
  const content = Array.from({ length: 20_000 }, (_, index) => ({
    ...{ type: 'tool_use', id: `t${index}`, name: 'Bash', input: {} },
  }))
  const { started } = toolsIn([
    stored(1, { type: 'assistant', message: { content } }),
    stored(2, { type: 'assistant', message: { content: [{ type: 'tool_use', id: 'last', name: 'Read' }] } }),
  ])
  assert.equal(started.length, maxToolsPerLine + 1)
  assert.equal(started.at(-1)?.id, 'last')
})

test('a summary is one line of at most 200 characters from the most informative field', () => {
  assert.equal(summaryOf({ old_string: 'x', file_path: '/a/b' }), '/a/b')
  assert.equal(summaryOf({ a: 1 }), '{"a":1}')
  assert.equal(summaryOf(undefined), '')
  assert.equal(summaryOf([{ type: 'text', text: 'hi' }]), '[{"type":"text","text":"hi"}]')
  assert.equal(summaryOf('x'.repeat(300)).length, 200)
})
