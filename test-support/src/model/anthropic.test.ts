import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anthropic } from './anthropic.ts'
import { currentTurn, type ModelRequest, type Turn } from './conversation.ts'

const CLI = { 'user-agent': 'claude-cli/2.1.329 (external, sdk-cli)' }

function read(
  messages: unknown,
  given: { headers?: Record<string, string>; more?: object } = {},
): ModelRequest {
  const request = anthropic.read({
    body: { model: 'claude-x', messages, ...given.more },
    headers: given.headers ?? {},
    query: new URLSearchParams(),
    route: { ask: 'answer', model: null, stream: false },
  })
  assert.ok(typeof request === 'object', String(request))
  return request
}

function turnOf(messages: unknown, headers: Record<string, string> = CLI): Turn {
  return currentTurn(read(messages, { headers }).messages)
}

function text(value: string) {
  return { type: 'text', text: value }
}

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }

test('text is read from a string or from blocks, which are joined by newlines', () => {
  assert.equal(turnOf([{ role: 'user', content: 'hello' }]).text, 'hello')
  assert.equal(turnOf([{ role: 'user', content: [text('one'), image, text('two')] }]).text, 'one\ntwo')
})

test('reminders of the CLI are not user text, and images are counted', () => {
  const content = [text('<system-reminder>\n[[fail]]\n</system-reminder>\n'), text('hello'), image, image]
  assert.deepEqual(turnOf([{ role: 'user', content }]), {
    text: 'hello',
    images: 2,
    earlier: [],
    toolResults: [],
  })
})

test('system messages in the conversation belong to the system prompt', () => {
  const messages = [
    { role: 'user', content: 'hello' },
    { role: 'system', content: [text('environment')] },
  ]
  const request = read(messages, { more: { system: [text('be'), text('brief')] } })
  assert.equal(request.system, 'be\nbrief\nenvironment')
  assert.equal(currentTurn(request.messages).text, 'hello')
  assert.equal(read([], { more: { system: 'short' } }).system, 'short')
})

test('tool results are read from a string or from blocks', () => {
  const result = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content })
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Bash', input: {} }] },
    { role: 'user', content: [result('a', 'one'), text('<system-reminder>x</system-reminder>')] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'b', name: 'Bash', input: {} }] },
    { role: 'system', content: 'a file has changed' },
    { role: 'user', content: [result('b', [text('two'), text('three')])] },
  ]
  assert.deepEqual(turnOf(messages), {
    text: 'go',
    images: 0,
    earlier: [],
    toolResults: [
      { callId: 'a', text: 'one' },
      { callId: 'b', text: 'two\nthree' },
    ],
  })
})

test('a failed turn that the CLI joins with the next message has ended', () => {
  const turn = turnOf([{ role: 'user', content: [text('[[fail]] one\n'), text('two')] }])
  assert.deepEqual([turn.text, turn.earlier], ['two', ['[[fail]] one']])
})

test('an interrupted turn with its result and image has ended', () => {
  const content = [
    { type: 'tool_result', tool_use_id: 'a', content: 'rejected' },
    text('[[fail]] one'),
    image,
    text('[Image: source: /tmp/1.png]\n'),
    text('[Request interrupted by user]\n'),
    text('two'),
    image,
    text('[Image: source: /tmp/2.png]'),
  ]
  const turn = turnOf([{ role: 'user', content }])
  assert.deepEqual([turn.text, turn.images, turn.toolResults], ['two', 1, []])
})

test('a note ends a turn even without following text', () => {
  const note = text('[Image: source: /tmp/1.png]')
  const turn = turnOf([
    { role: 'user', content: [text('[[fail]] one'), image, note, image, text('two\n'), note] },
  ])
  assert.deepEqual([turn.text, turn.images, turn.earlier], ['two', 1, ['[[fail]] one']])
})

test('a note or reminder after the text does not end the turn', () => {
  assert.equal(
    turnOf([{ role: 'user', content: [image, text('hello\n'), text('[Image: source: /1.png]')] }]).text,
    'hello',
  )
  const reminded = [text('hello\n'), text('<system-reminder>x</system-reminder>')]
  assert.equal(turnOf([{ role: 'user', content: reminded }]).text, 'hello')
})

test('without the CLI a newline at the end of a block has no meaning', () => {
  const messages = [{ role: 'user', content: [text('one\n'), text('two')] }]
  assert.equal(turnOf(messages, {}).text, 'one\n\ntwo')
  const system = 'x-anthropic-billing-header: cc_version=2.1.329; cc_entrypoint=sdk-cli;'
  assert.equal(currentTurn(read(messages, { more: { system } }).messages).text, 'two')
})

test("requests of the CLI's helpers are side requests", () => {
  const ask = [{ role: 'user', content: 'hello' }]
  const format = {
    type: 'json_schema',
    schema: { type: 'object', properties: { title: { type: 'string' } } },
  }
  assert.equal(read(ask).isSide, false)
  assert.equal(read(ask, { headers: CLI }).isSide, false)
  assert.equal(read(ask, { more: { output_config: { format } } }).isSide, true)
  assert.deepEqual(read(ask, { more: { output_format: format } }).answerSchema, format.schema)
  assert.equal(read(ask, { headers: CLI, more: { max_tokens: 1 } }).isSide, true)
  assert.equal(read(ask, { more: { max_tokens: 1 } }).isSide, false)
  assert.equal(read(ask, { headers: { 'x-claude-code-request-class': 'auxiliary' } }).isSide, true)
  assert.equal(read(ask, { headers: { 'x-claude-code-request-class': 'main' } }).isSide, false)
})

test('invalid bodies are refused with a reason, invalid members are ignored', () => {
  const refuse = (body: Record<string, unknown>) =>
    anthropic.read({
      body,
      headers: {},
      query: new URLSearchParams(),
      route: { ask: 'answer', model: null, stream: false },
    })
  assert.equal(refuse({ model: 'x' }), 'messages: Input should be a valid list')
  assert.equal(refuse({ messages: [] }), 'model: Field required')
  assert.equal(
    turnOf([null, 7, { role: 'user' }, { role: 'user', content: [null, 'x', { type: 'text' }] }]).text,
    '',
  )
})
