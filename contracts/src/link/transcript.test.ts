import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TranscriptLine, wholeKinds } from './transcript.ts'

test('only blocks of the main agent count as complete, not those of subagents', () => {
  const line = (type: 'text' | 'thinking', parent?: string): TranscriptLine => ({
    type: 'assistant',
    message: {
      role: 'assistant',
      content: [type === 'text' ? { type, text: 'a' } : { type, thinking: 'a' }],
    },
    ...(parent === undefined ? {} : { parent_tool_use_id: parent }),
  })
  assert.deepEqual(wholeKinds([line('text'), line('thinking', 't1')]), ['text'])
  assert.deepEqual(wholeKinds([line('thinking'), line('text')]), ['text', 'thinking'])
  assert.deepEqual(wholeKinds([{ type: 'system', subtype: 'notice', level: 'info', message: 'a' }]), [])
})
