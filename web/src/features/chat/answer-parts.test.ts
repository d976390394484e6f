import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { transcriptOf } from '../transcripts/transcript-of.ts'
import { answerParts, workWords } from './answer-parts.ts'

const says = (text: string) => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})
const thinks = {
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }] },
}
const calls = (id: string) => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Bash', input: {} }] },
})
const returns = (id: string) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
})
const partsOf = (...lines: object[]) => answerParts(transcriptOf(lines))

describe('the answer of a transcript', () => {
  test('is the text after the last tool call; earlier text belongs to the work', () => {
    const { work, answer, doing } = partsOf(says('I look'), calls('t'), returns('t'), says('Done.'))
    assert.deepEqual(
      work.map(({ kind }) => kind),
      ['text', 'tool'],
    )
    assert.deepEqual(
      answer.map(({ text }) => text),
      ['Done.'],
    )
    assert.equal(doing, null)
  })

  test('omits the result and errors, which the end of the turn shows', () => {
    const { work, answer } = partsOf(
      says('Hello'),
      { type: 'error', error: 'agent_error', message: 'x', retryable: false },
      { type: 'result', subtype: 'error', is_error: true, result: null, duration_ms: 1, num_turns: 1 },
    )
    assert.equal(work.length, 0)
    assert.equal(answer.length, 1)
  })
})

describe('the current activity', () => {
  test('is the running tool, else thinking', () => {
    assert.equal(partsOf(calls('t')).doing, 'Using Bash')
    assert.equal(partsOf(calls('t'), returns('t')).doing, 'Thinking')
    assert.equal(partsOf().doing, 'Thinking')
  })
})

test('the fold summarizes its content', () => {
  assert.equal(workWords(partsOf(thinks, calls('a'), calls('b')).work), 'thinking, 2 tool calls')
  assert.equal(workWords(partsOf(calls('a')).work), '1 tool call')
  assert.equal(workWords([]), 'steps')
})
