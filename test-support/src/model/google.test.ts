import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentTurn, type ModelRequest, type Turn } from './conversation.ts'
import { google } from './google.ts'

type Given = { headers?: Record<string, string>; more?: object; stream?: boolean; query?: string }

function read(
  contents: unknown,
  { headers = {}, more = {}, stream = true, query = 'alt=sse' }: Given = {},
): ModelRequest {
  const request = google.read({
    body: { contents, ...more },
    headers,
    query: new URLSearchParams(query),
    route: { ask: 'answer', model: 'gemini-x', stream },
  })
  assert.ok(typeof request === 'object', String(request))
  return request
}

function turnOf(contents: unknown): Turn {
  return currentTurn(read(contents).messages)
}

const image = { inlineData: { mimeType: 'image/png', data: 'aGk=' } }

test('text parts are joined by newlines, images are counted, and the session context is skipped', () => {
  const parts = [
    { text: '<session_context>\n[[fail]]\n</session_context>' },
    { text: 'look @red.png' },
    { text: '\n--- Content from referenced files ---' },
    image,
    { text: '\n--- End of content ---' },
    { text: 'and say' },
    { inlineData: { mimeType: 'application/pdf', data: 'aGk=' } },
  ]
  assert.deepEqual(turnOf([{ role: 'user', parts }]), {
    text: 'look @red.png\nand say',
    images: 1,
    earlier: [],
    toolResults: [],
  })
})

test('the spelling of the REST reference is accepted too', () => {
  const request = read([{ parts: [{ text: 'hi' }, { inline_data: { mime_type: 'image/png', data: '' } }] }], {
    more: {
      system_instruction: { parts: [{ text: 'be' }, { text: 'brief' }] },
      tools: [{ function_declarations: [{ name: 'write_file' }] }],
    },
  })
  assert.equal(request.system, 'be\nbrief')
  assert.deepEqual(
    request.tools.map((tool) => tool.name),
    ['write_file'],
  )
  assert.equal(currentTurn(request.messages).images, 1)
})

test('function responses of any shape are results', () => {
  const response = (id: string | undefined, value: unknown) => ({
    role: 'user',
    parts: [{ functionResponse: { id, name: 'run_shell_command', response: value } }],
  })
  const call = {
    role: 'model',
    parts: [{ text: 'thinking', thought: true }, { functionCall: { name: 'x' } }],
  }
  const turn = turnOf([
    { role: 'user', parts: [{ text: 'go' }] },
    call,
    response('a', { output: 'one' }),
    call,
    response('b', { error: 'two' }),
    call,
    response(undefined, { rows: 3 }),
  ])
  assert.equal(turn.text, 'go')
  assert.deepEqual(
    turn.toolResults.map((result) => result.text),
    ['one', 'two', '{"rows":3}'],
  )
})

test("tools are found under the CLI's names and their own", () => {
  const offering = (...names: string[]) =>
    read([], { more: { tools: [{ functionDeclarations: names.map((name) => ({ name })) }] } })
  assert.equal(google.offers(offering('run_shell_command'), 'Bash'), true)
  assert.equal(google.offers(offering('write_file'), 'Write'), true)
  assert.equal(google.offers(offering('write_file'), 'Bash'), false)
  assert.equal(google.offers(offering('mcp_x_tool'), 'mcp_x_tool'), true)
  assert.equal(google.offers(offering(), 'constructor'), false)
})

test('CLI requests without streaming or for JSON are side requests', () => {
  const cli = { 'user-agent': 'GeminiCLI-tui/0.61.0/gemini-2.5-pro (linux; x64; terminal)' }
  const json = {
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { type: 'OBJECT' } },
  }
  assert.equal(read([], { headers: cli }).isSide, false)
  assert.equal(read([], { headers: cli, stream: false }).isSide, true)
  assert.equal(read([], { stream: false }).isSide, false)
  assert.equal(read([], { more: json }).isSide, true)
})

test('a stream uses events with alt=sse, else one array', () => {
  assert.equal(read([]).streamForm, 'sse')
  assert.equal(read([], { query: '' }).streamForm, 'json_array')
  assert.equal(read([], { stream: false }).streamForm, null)
})

const routes: [method: string, path: string, expected: unknown][] = [
  ['POST', '/v1beta/models/gemini-x:generateContent', { ask: 'answer', model: 'gemini-x', stream: false }],
  [
    'POST',
    '/v1beta/models/gemini-x:streamGenerateContent',
    { ask: 'answer', model: 'gemini-x', stream: true },
  ],
  ['POST', '/v1/models/gemini%2Fx:generateContent', { ask: 'answer', model: 'gemini/x', stream: false }],
  ['POST', '/v1beta/models/%zz:generateContent', { ask: 'answer', model: '%zz', stream: false }],
  ['POST', '/v1beta/models/gemini-x:countTokens', { ask: 'count_tokens', model: 'gemini-x' }],
  ['GET', '/v1beta/models', { ask: 'models' }],
  ['GET', '/v1beta/models/gemini-x', { ask: 'model', model: 'gemini-x' }],
  ['POST', '/v1beta/models/gemini-x:embedContent', null],
  ['GET', '/v1beta/models/gemini-x:generateContent', null],
]

for (const [method, path, expected] of routes) {
  test(`${method} ${path} is ${expected ? 'known' : 'nothing it knows'}`, () => {
    assert.deepEqual(google.route(method, path), expected)
  })
}
