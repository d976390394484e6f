import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { transcript } from './transcript.ts'

const usage = { input_tokens: 1, output_tokens: 1 }

function text(lines: TranscriptLine[], isFull = false): string {
  const log = lines.map((line, index) => ({ ...line, _n: index + 1, _ts: '2030-01-01T00:00:00.000Z' }))
  return transcript({ message: null, status: 'running', log }, { isFull })
}

test('control characters from an agent do not reach the terminal', () => {
  const shown = text([
    { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'a\u001b[2Jb' }] } },
    {
      type: 'user',
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: '1', content: '\u001b]0;x\u0007y' }],
      },
    },
    { type: 'error', error: 'x\u0007', message: '\u001b[31mred', retryable: false },
  ])
  assert.equal(shown, 'a[2Jb\n\n  ]0;xy\n\n! [31mred (x)\n\nrunning')
})

test('work of a subagent is indented below its call, and a failed run ends with its status', () => {
  const shown = text([
    {
      type: 'assistant',
      parent_tool_use_id: '1',
      message: { role: 'assistant', content: [{ type: 'text', text: 'one\ntwo' }] },
    },
    {
      type: 'result',
      subtype: 'error',
      is_error: true,
      result: null,
      duration_ms: 1500,
      num_turns: 1,
      usage,
      session_id: null,
    },
  ])
  assert.equal(shown, '    one\n    two\n\nfailed (1 turn, 1.5 s)')
})

test('long output is cut after ten lines and 200 characters, and complete with full', () => {
  const content = [...Array.from({ length: 12 }, (_, line) => `line ${line}`), ''].join('\n')
  const lines: TranscriptLine[] = [
    {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content }] },
    },
  ]
  assert.match(text(lines), /line 9\n {2}… 2 more lines \(--full shows all\)\n/)
  assert.match(text(lines, true), /line 11\n/)
})
