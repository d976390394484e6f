import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ChatMessage } from '@roost/contracts/conversations/chat'
import { isOpen, turnsOf } from './turns-of.ts'

function message(id: string, fields: Partial<ChatMessage> = {}): ChatMessage {
  return {
    id,
    session_id: 's',
    agent_name: 'scout',
    role: 'user',
    content: id,
    timestamp: '2026-01-01T00:00:00.000Z',
    source: 'text',
    execution_id: null,
    cost: null,
    cost_estimated: false,
    context_used: null,
    context_max: null,
    tool_calls: null,
    execution_time_ms: null,
    output_tokens: null,
    files: null,
    error_code: null,
    rating: null,
    voice_call_id: null,
    ...fields,
  }
}
const questionOf = (id: string, execution_id: string, fields = {}) => message(id, { execution_id, ...fields })
const answered = (id: string, execution_id: string | null) => message(id, { role: 'assistant', execution_id })

const outline = (messages: ChatMessage[]) =>
  turnsOf(messages).map(({ key, question, answer }) => [key, question?.id ?? null, answer?.id ?? null])

describe('turns', () => {
  test('a question and its answer form one turn, even with another question between', () => {
    assert.deepEqual(
      outline([questionOf('q1', 'x'), questionOf('q2', 'y'), answered('a1', 'x'), answered('a2', 'y')]),
      [
        ['x', 'q1', 'a1'],
        ['y', 'q2', 'a2'],
      ],
    )
  })

  test('an answer whose question is on an earlier page forms a turn of its own', () => {
    assert.deepEqual(outline([answered('a0', 'w'), questionOf('q1', 'x')]), [
      ['w', null, 'a0'],
      ['x', 'q1', null],
    ])
  })

  test('messages without a run, and second answers of a run, have their own keys', () => {
    assert.deepEqual(
      outline([
        message('n'),
        answered('r', null),
        questionOf('q', 'x'),
        answered('a', 'x'),
        answered('b', 'x'),
      ]),
      [
        ['n', 'n', null],
        ['r', null, 'r'],
        ['x', 'q', 'a'],
        ['b', null, 'b'],
      ],
    )
  })

  test('a turn is open without an answer and without an error', () => {
    const turns = turnsOf([
      questionOf('q1', 'x'),
      questionOf('q2', 'y', { error_code: 'timeout' }),
      questionOf('q3', 'z'),
      answered('a3', 'z'),
      message('n'),
    ])
    assert.deepEqual(turns.map(isOpen), [true, false, false, false])
  })
})
