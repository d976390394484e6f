import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayOf, isOpen, secondsLeftOfDay, secretHash, visitorLine } from './rules.ts'

const visible = (line: object) => {
  const text = visitorLine(JSON.stringify({ ...line, _n: 3, _ts: 't' }))
  return text === null ? null : JSON.parse(text)
}

test("of the agent's output a visitor sees the text and the names of tools", () => {
  const message = {
    role: 'assistant',
    model: 'm',
    usage: { input_tokens: 1, output_tokens: 2 },
    content: [
      { type: 'thinking', thinking: 'secret thought' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'x', name: 'Read', input: { file_path: '/home/developer/.env' } },
    ],
  }
  assert.deepEqual(visible({ type: 'assistant', message }), {
    type: 'assistant',
    message: {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', name: 'Read' },
      ],
    },
    _n: 3,
    _ts: 't',
  })
})

test('results, costs, prompts, thoughts and subagent output are hidden', () => {
  const assistantLine = (content: object[], over = {}) => ({
    type: 'assistant',
    message: { role: 'assistant', content },
    ...over,
  })
  for (const line of [
    { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: 'KEY=1' }] } },
    { type: 'result', result: 'done', total_cost_usd: 1, usage: {}, session_id: 'r' },
    { type: 'system', subtype: 'init', session_id: 'r', model: 'm', tools: [] },
    { type: 'system', subtype: 'notice', level: 'info', message: '/home/developer' },
    assistantLine([{ type: 'thinking', thinking: 'hm' }]),
    assistantLine([{ type: 'text', text: 'to my caller' }], { parent_tool_use_id: 'x' }),
    { type: 'assistant', _truncated: true },
  ]) {
    assert.equal(visible(line), null, JSON.stringify(line))
  }
  const error = visible({ type: 'error', error: 'auth', message: 'key sk-1 refused', retryable: true })
  assert.deepEqual([error.type, error.retryable, error.message.includes('sk-1')], ['error', true, false])
})

test('a link is open while it is enabled and not expired', () => {
  const now = '2026-05-01T00:00:00.000Z'
  assert.equal(isOpen({ enabled: 1, expires_at: null }, now), true)
  assert.equal(isOpen({ enabled: 1, expires_at: '2026-05-01T00:00:00.001Z' }, now), true)
  assert.equal(isOpen({ enabled: 1, expires_at: now }, now), false)
  assert.equal(isOpen({ enabled: 0, expires_at: null }, now), false)
})

test('messages are counted per UTC day', () => {
  const now = new Date('2026-02-28T23:59:30.500Z')
  assert.equal(dayOf(now), '2026-02-28')
  assert.equal(secondsLeftOfDay(now), 30)
  assert.equal(secondsLeftOfDay(new Date('2026-02-28T00:00:00.000Z')), 86_400)
})

test('only text in the format of a secret is looked up', () => {
  assert.match(secretHash('x'.repeat(43)) ?? '', /^[0-9a-f]{64}$/)
  for (const text of ['', 'short', 'x'.repeat(44), `${'x'.repeat(42)}%`, null, undefined]) {
    assert.equal(secretHash(text), null)
  }
})
