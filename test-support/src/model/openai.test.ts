import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentTurn, type ModelRequest, type Turn } from './conversation.ts'
import { openai } from './openai.ts'

function read(input: unknown, given: { headers?: Record<string, string>; more?: object } = {}): ModelRequest {
  const request = openai.read({
    body: { model: 'gpt-x', input, ...given.more },
    headers: given.headers ?? {},
    query: new URLSearchParams(),
    route: { ask: 'answer', model: null, stream: false },
  })
  assert.ok(typeof request === 'object', String(request))
  return request
}

function turnOf(input: unknown): Turn {
  return currentTurn(read(input).messages)
}

function message(role: string, ...texts: string[]) {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return { type: 'message', role, content: texts.map((text) => ({ type, text })) }
}

test('input is read from a string, from short messages or from items', () => {
  assert.equal(turnOf('hello').text, 'hello')
  assert.equal(turnOf([{ role: 'user', content: 'hello' }]).text, 'hello')
  assert.equal(turnOf([message('user', 'one', 'two')]).text, 'one\ntwo')
})

test('a user message without an answer is an earlier turn', () => {
  const turn = turnOf([message('user', '[[fail]] one'), message('user', 'two')])
  assert.deepEqual([turn.text, turn.earlier], ['two', ['[[fail]] one']])
})

test('texts that codex adds are not user text', () => {
  const input = [
    message('user', '# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n[[fail]]\n</INSTRUCTIONS>'),
    message('user', '<environment_context>\n  <cwd>/w</cwd>\n</environment_context>'),
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: '<image name=[Image #1] path="red.png">' },
        { type: 'input_image', image_url: 'data:image/png;base64,aGk=' },
        { type: 'input_text', text: '</image>' },
        { type: 'input_text', text: 'look' },
      ],
    },
    message('user', '<turn_aborted>\nx\n</turn_aborted>'),
  ]
  const turn = turnOf(input)
  assert.deepEqual([turn.text, turn.images], ['look', 1])
})

test('instructions and developer messages are the system prompt', () => {
  const request = read(
    [message('developer', 'be', 'kind'), message('system', 'and'), message('user', 'hi')],
    {
      more: { instructions: 'short' },
    },
  )
  assert.equal(request.system, 'short\nbe\nkind\nand')
})

test('outputs of functions and custom tools are results', () => {
  const turn = turnOf([
    message('user', 'go'),
    { type: 'reasoning', summary: [] },
    { type: 'function_call', call_id: 'a', name: 'exec_command', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'one' },
    message('assistant', 'so far'),
    { type: 'custom_tool_call', call_id: 'b', name: 'exec', input: 'text(1)' },
    { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'two' }] },
  ])
  assert.equal(turn.text, 'go')
  assert.deepEqual(turn.toolResults, [
    { callId: 'a', text: 'one' },
    { callId: 'b', text: 'two' },
  ])
})

test('requests that codex marks as other than turns are side requests', () => {
  const kind = (value: string) => ({ 'x-codex-turn-metadata': JSON.stringify({ request_kind: value }) })
  assert.equal(read('hi').isSide, false)
  assert.equal(read('hi', { headers: kind('turn') }).isSide, false)
  assert.equal(read('hi', { headers: kind('compaction') }).isSide, true)
  assert.equal(read('hi', { more: { client_metadata: kind('compaction') } }).isSide, true)
  assert.equal(read('hi', { headers: { 'x-codex-turn-metadata': 'not json' } }).isSide, false)
})

test('invalid bodies are refused with a reason', () => {
  const refuse = (body: Record<string, unknown>) =>
    openai.read({
      body,
      headers: {},
      query: new URLSearchParams(),
      route: { ask: 'answer', model: null, stream: false },
    })
  assert.equal(refuse({ input: 'x' }), "Missing required parameter: 'model'.")
  assert.equal(refuse({ model: 'x' }), "Missing required parameter: 'input'.")
  assert.equal(turnOf([null, 'x', { role: 'user' }, { type: 'message' }]).text, '')
})
