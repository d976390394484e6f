import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { call, type Loose, startWorld, type World } from './test/world.ts'

const modes = ['sessions', 'modern'] as const
const message = { agent_name: 'scout', message: 'hi' }
const fanOut = { agent_name: 'scout', tasks: [{ message: 'a' }] }
const fanOutReply = { status: 'completed', fan_out_id: 'f1', total: 1, results: [] }

/** Returns the `Idempotency-Key` of every request to this path, in order; undefined without one. */
function keysSentTo(world: World, path: string): unknown[] {
  return world.requests
    .filter((request) => request.path === path)
    .map(({ headers }) => headers['idempotency-key'])
}

function answerRuns(world: World): void {
  for (const path of ['chat', 'task', 'sessions/s1/message']) {
    world.routes.set(`POST /api/agents/scout/${path}`, () => ({
      body: { status: 'success', execution_id: 'e1', response: 'hello' },
    }))
  }
  world.routes.set('POST /api/agents/scout/fan-out', () => ({ body: fanOutReply }))
}

for (const mode of modes) {
  test(`${mode}: the header Idempotency-Key reaches the API from chat_with_agent and fan_out`, async () => {
    await using world = await startWorld()
    answerRuns(world)
    const client = await world.connect(world.key('user'), mode, { 'idempotency-key': 'order 7' })
    await call(client, 'chat_with_agent', message)
    await call(client, 'chat_with_agent', message)
    await call(client, 'chat_with_agent', { ...message, session_id: 's1' })
    await call(client, 'chat_with_agent', { ...message, parallel: true })
    await call(client, 'fan_out', fanOut)
    assert.deepEqual(keysSentTo(world, '/api/agents/scout/chat'), ['order 7', 'order 7'])
    assert.deepEqual(keysSentTo(world, '/api/agents/scout/sessions/s1/message'), ['order 7'])
    assert.deepEqual(keysSentTo(world, '/api/agents/scout/task'), ['order 7'])
    assert.deepEqual(keysSentTo(world, '/api/agents/scout/fan-out'), ['order 7'])
  })

  test(`${mode}: the header is used by the tool of a published agent`, async () => {
    await using world = await startWorld({
      exposed: [{ agent_name: 'scout', tool_name: 'chat_with_scout', description: 'scout' }],
    })
    answerRuns(world)
    world.routes.set('GET /api/agents', () => ({ body: [{ name: 'scout' }] }))
    const client = await world.connect(world.key('user'), mode, { 'idempotency-key': 'k' })
    await call(client, 'chat_with_scout', { message: 'hi' })
    assert.deepEqual(keysSentTo(world, '/api/agents/scout/chat'), ['k'])
  })

  test(`${mode}: header and argument with the same value are one key; different values are refused`, async () => {
    await using world = await startWorld()
    answerRuns(world)
    const client = await world.connect(world.key('user'), mode, { 'idempotency-key': 'k1' })
    for (const [tool, input] of [
      ['chat_with_agent', message],
      ['chat_with_agent', { ...message, parallel: true }],
      ['fan_out', fanOut],
    ] as const) {
      const refused = await call(client, tool, { ...input, idempotency_key: 'k2' })
      assert.deepEqual([refused.error, refused.isError], ['invalid_parameters', true])
      assert.match(refused.message, /idempotency_key.*Idempotency-Key/)
    }
    assert.equal(world.requests.filter(({ path }) => path.startsWith('/api/agents/scout/')).length, 0)
    await call(client, 'chat_with_agent', { ...message, idempotency_key: 'k1' })
    assert.deepEqual(keysSentTo(world, '/api/agents/scout/chat'), ['k1'])
  })

  test(`${mode}: an empty header is ignored`, async () => {
    await using world = await startWorld()
    answerRuns(world)
    const client = await world.connect(world.key('user'), mode, { 'idempotency-key': '' })
    await call(client, 'chat_with_agent', { ...message, idempotency_key: 'k2' })
    await call(client, 'chat_with_agent', message)
    const [input, derived] = keysSentTo(world, '/api/agents/scout/chat')
    assert.equal(input, 'k2')
    if (mode === 'modern') assert.equal(derived, undefined)
    else assert.match(String(derived), /^[\w-]{43}$/)
  })
}

test('every call of a JSON-RPC batch uses the header of its HTTP request', async () => {
  await using world = await startWorld()
  answerRuns(world)
  const token = world.key('user')
  const session = await world.begin(token, '2025-03-26')
  const chat = {
    jsonrpc: '2.0',
    method: 'tools/call',
    params: { name: 'chat_with_agent', arguments: message },
  }
  const tasks = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'fan_out', arguments: fanOut } }
  const batch = [
    { ...chat, id: 1 },
    { ...tasks, id: 2 },
  ]
  const headers = {
    'mcp-session-id': session,
    'mcp-protocol-version': '2025-03-26',
    'idempotency-key': 'once',
  }
  const { status, text } = await world.post(token, batch, headers)
  assert.equal(status, 200, text)
  assert.deepEqual(keysSentTo(world, '/api/agents/scout/chat'), ['once'])
  assert.deepEqual(keysSentTo(world, '/api/agents/scout/fan-out'), ['once'])
})

test('the header applies to one HTTP request, not to the rest of the session', async () => {
  await using world = await startWorld()
  answerRuns(world)
  const headers: Record<string, string> = {}
  const client = await world.connect(world.key('user'), 'sessions', headers)
  for (const key of ['a', 'b']) {
    headers['idempotency-key'] = key
    await call(client, 'chat_with_agent', message)
  }
  assert.ok(client.transport instanceof StreamableHTTPClientTransport)
  assert.deepEqual(keysSentTo(world, '/api/agents/scout/chat'), ['a', 'b'])
})

test('the header reaches every endpoint that reads it, and a repeated loop or agent creation is one request', async () => {
  await using world = await startWorld()
  const person = await world.connect(world.key('user'), 'modern', { 'idempotency-key': 'k' })
  const agent = await world.connect(world.key('agent', 'scout'), 'modern', { 'idempotency-key': 'k' })
  const calls: [Loose, string, object, string][] = [
    [person, 'ask', { agent: 'scout', message: 'hi' }, '/api/agents/scout/chat'],
    [person, 'run_playbook', { agent: 'scout', name: 'p' }, '/api/agents/scout/playbooks/p/run'],
    [person, 'run_agent_loop', { ...message, max_runs: 1 }, '/api/agents/scout/loops'],
    [person, 'create_agent', { name: 'new' }, '/api/agents'],
    [person, 'fork_agent', { agent_name: 'scout', name: 'new' }, '/api/agents/scout/fork'],
    [agent, 'call_user', { to_number: '+15550123456' }, '/api/agents/scout/voip/call'],
    [agent, 'set_reminder', { message: 'hi', delay_seconds: 60 }, '/api/agents/scout/reminders'],
  ]
  for (const [client, tool, input, path] of calls) {
    await call(client, tool, input)
    assert.deepEqual(keysSentTo(world, path), ['k'], tool)
  }
})

test('a key that is not a valid header value is sent as its digest', async () => {
  await using world = await startWorld()
  answerRuns(world)
  const client = await world.connect(world.key('user'))
  for (const idempotency_key of ['ключ', 'ключ', 'a\nb', ' a'])
    await call(client, 'chat_with_agent', { ...message, idempotency_key })
  const [first, again, ...others] = keysSentTo(world, '/api/agents/scout/chat')
  assert.equal(first, again)
  for (const key of [first, ...others]) assert.match(String(key), /^[\w-]{43}$/)
  assert.equal(new Set([first, ...others]).size, 3)
})
