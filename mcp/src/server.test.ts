import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, internalSecret, type Loose, startWorld } from './test/world.ts'

const chatPath = 'POST /api/agents/scout/chat'
const taskPath = 'POST /api/agents/scout/task'
const reply = { status: 'success', execution_id: 'e1', response: 'hello', execution_log: ['long'] }
const modes = ['sessions', 'modern'] as const

for (const mode of modes) {
  test(`${mode}: a call is one request with the caller's key; its result is text and structured content`, async () => {
    await using world = await startWorld()
    const token = world.key('user')
    world.routes.set(chatPath, () => ({ body: reply }))
    const client = await world.connect(token, mode)
    const result = await call(client, 'chat_with_agent', { agent_name: 'scout', message: 'hi' })
    assert.deepEqual(result, { status: 'success', execution_id: 'e1', response: 'hello', isError: false })
    const sent = world.requests.filter(({ path }) => path.endsWith('/chat'))
    assert.equal(sent.length, 1)
    assert.deepEqual(sent[0]?.body, { message: 'hi' })
    assert.equal(sent[0]?.headers.authorization, `Bearer ${token}`)
    assert.equal(sent[0]?.headers['x-via-mcp'], '1')
    assert.equal(sent[0]?.headers.prefer, 'wait=1, return=minimal')
  })

  test(`${mode}: tools that a key does not see are not listed, and calling one is -32602 like an unknown tool`, async () => {
    await using world = await startWorld()
    const sees = async (token: string) => {
      const client = await world.connect(token, mode)
      const names = (await client.listTools()).tools.map(({ name }) => name)
      return { client, names }
    }
    const agent = await sees(world.key('agent', 'scout'))
    assert.ok(agent.names.includes('chat_with_agent') && !agent.names.includes('delete_agent'))
    const connector = await sees(world.key('connector', 'scout'))
    assert.deepEqual(connector.names.toSorted(), ['ask', 'list_playbooks', 'run_playbook'])
    const ops = await sees(world.key('ops'))
    assert.deepEqual(ops.names, [])
    // As MCP 2025-06-18 and later define it: -32601 would mean that the server has no tools at all.
    const unknown = { name: 'ProtocolError', code: -32602, message: /no tool/ }
    for (const { client } of [agent, connector, ops]) {
      await assert.rejects(client.callTool({ name: 'delete_agent', arguments: { name: 'x' } }), unknown)
      await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), unknown)
    }
    assert.equal(world.requests.filter(({ path }) => path.startsWith('/api/agents')).length, 0)
  })

  test(`${mode}: a call fails with a message while the API is down, and the next one works once it is back`, async () => {
    await using world = await startWorld()
    const client = await world.connect(world.key('user'), mode)
    world.routes.set('GET /api/agents', () => ({ status: 502, body: [] }))
    const away = await call(client, 'list_agents')
    assert.equal(away.isError, true)
    world.routes.set('GET /api/agents', () => ({ body: [] }))
    assert.deepEqual(await call(client, 'list_agents'), { agents: [], count: 0, isError: false })
    await world.stopApi()
    const failed = await call(client, 'list_agents')
    assert.deepEqual([failed.error, failed.isError], ['platform_unreachable', true])
    assert.match(failed.message, /Try again/)
    assert.ok(world.lines.some((line) => line.includes('a tool could not ask the platform')))
  })

  test(`${mode}: a cancelled call aborts its API request`, async () => {
    await using world = await startWorld()
    const client = await world.connect(world.key('user'), mode)
    const begun = Promise.withResolvers<void>()
    const aborted = Promise.withResolvers<void>()
    world.routes.set(chatPath, async ({ signal }) => {
      begun.resolve()
      signal.addEventListener('abort', () => aborted.resolve())
      await aborted.promise
      return { body: reply }
    })
    const cancel = new AbortController()
    const sent = { name: 'chat_with_agent', arguments: { agent_name: 'scout', message: 'hi' } }
    const calling = client.callTool(sent, { signal: cancel.signal })
    await begun.promise
    cancel.abort()
    await assert.rejects(calling)
    await aborted.promise
  })
}

test('503 while the key cannot be checked; the next request checks again, 401 for an invalid key', async () => {
  await using world = await startWorld()
  const token = world.key('user')
  const validate = world.routes.get('POST /api/mcp/validate') ?? assert.fail()
  world.routes.set('POST /api/mcp/validate', () => ({ status: 503, body: {} }))
  const list = () => world.post(token, { id: 1, method: 'tools/list' })
  const away = await list()
  assert.deepEqual([away.status, JSON.parse(away.text).error], [503, 'platform_unreachable'])
  world.keys.delete(token)
  world.routes.set('POST /api/mcp/validate', validate)
  assert.equal((await list()).status, 401)
})

test('a long run, a busy agent and a request in progress return receipts', async () => {
  await using world = await startWorld()
  const client = await world.connect(world.key('user'))
  const chat = () => call(client, 'chat_with_agent', { agent_name: 'scout', message: 'hi', parallel: true })
  const answers: [{ status?: number; body: object }, Loose][] = [
    [
      { body: { status: 'queued_timeout', execution_id: 'e1', agent_name: 'scout', async_mode: true } },
      { status: 'queued_timeout', agent: 'scout', execution_id: 'e1' },
    ],
    [
      { status: 504, body: { error: 'sync_wait_exceeded', detail: 'Long.', execution_id: 'e2' } },
      { status: 'queued_timeout', agent: 'scout', execution_id: 'e2' },
    ],
    [
      {
        status: 429,
        body: { error: 'queue_full', detail: 'Full.', queue_length: 50, retry_after_seconds: 9 },
      },
      { status: 'agent_busy', agent: 'scout', queue_length: 50, retry_after_seconds: 9 },
    ],
    [
      { status: 409, body: { error: 'request_in_progress', detail: 'Runs.', execution_id: 'e3' } },
      { status: 'request_in_progress', agent: 'scout', execution_id: 'e3' },
    ],
  ]
  for (const [answer, expected] of answers) {
    world.routes.set(taskPath, () => answer)
    const { message, isError, ...rest } = await chat()
    assert.deepEqual([rest, isError], [expected, false])
    assert.ok(message.length > 20)
  }
})

test('a refused agent gets the reason and a hint; a person gets the error code', async () => {
  await using world = await startWorld()
  world.routes.set(chatPath, () => ({
    status: 403,
    body: { detail: 'Not permitted.', error: 'agent_not_permitted' },
  }))
  const agent = await world.connect(world.key('agent', 'rover'))
  const refused = await call(agent, 'chat_with_agent', { agent_name: 'scout', message: 'hi' })
  const { error, reason, caller, target, isError } = refused
  assert.deepEqual(
    [error, reason, caller, target, isError],
    ['Access denied', 'agent_not_permitted', 'rover', 'scout', true],
  )
  assert.match(refused.hint, /list_agents/)
  world.routes.set(chatPath, () => ({
    status: 404,
    body: { detail: 'There is no such agent.', error: 'agent_not_found' },
  }))
  const unknown = await call(agent, 'chat_with_agent', { agent_name: 'scout', message: 'hi' })
  assert.deepEqual([unknown.error, unknown.reason], ['Access denied', 'agent_not_found'])
  const person = await world.connect(world.key('user'))
  const recorded = await call(person, 'chat_with_agent', { agent_name: 'scout', message: 'hi' })
  assert.deepEqual([recorded.error, recorded.isError], ['agent_not_found', true])
  for (const input of [{ message: 'x', delay_seconds: 60 }, { no_such: 1 }]) {
    assert.equal((await call(person, 'set_reminder', input)).error, 'agent_identity_required')
  }
  const hidden = await call(agent, 'get_execution_result', { agent_name: 'scout', execution_id: 'e1' })
  assert.equal(hidden.error, 'not found or not accessible')
})

test('a refusal of a tool with an output schema is text only', async () => {
  await using world = await startWorld()
  const client = await world.connect(world.key('user'))
  const { tools } = await client.listTools()
  const shaped = tools.filter(({ outputSchema }) => outputSchema !== undefined)
  assert.ok(shaped.length > 10)
  for (const { name } of shaped) {
    const result: Loose = await client.callTool({ name, arguments: { nonsense: true } })
    assert.equal(result.isError, true, name)
    assert.equal(result.structuredContent, undefined, name)
    assert.equal(typeof JSON.parse(result.content[0].text).error, 'string', name)
  }
})

test('unknown and misspelt parameters are refused by name, without an API request', async () => {
  await using world = await startWorld()
  const client = await world.connect(world.key('user'))
  const before = world.requests.length
  const refused = await call(client, 'get_agent', { nmae: 'x', name: 'scout' })
  assert.deepEqual([refused.error, refused.isError], ['invalid_parameters', true])
  assert.match(refused.message, /"nmae".*takes name/)
  const inside = await call(client, 'create_agent', { name: 'x', resources: { cpu: '2', disk: '1g' } })
  assert.equal(inside.message, 'resources: unknown "disk"')
  const task = { message: 'hi', prompt: 'hi' }
  const inList = await call(client, 'fan_out', { agent_name: 'scout', tasks: [task] })
  assert.equal(inList.message, 'tasks.0: unknown "prompt"')
  const missing = await call(client, 'chat_with_agent', { agent_name: 'scout' })
  assert.match(missing.message, /^message: /)
  const idle = await call(client, 'chat_with_agent', { agent_name: 'scout', message: 'x', max_turns: 3 })
  assert.match(idle.message, /max_turns: only with parallel=true/)
  const sent = world.requests.slice(before).filter(({ path }) => path.startsWith('/api/agents'))
  assert.deepEqual(sent, [])
})

test('within a session a retried request has the same idempotency key, a new request another one', async () => {
  await using world = await startWorld()
  const token = world.key('user')
  world.routes.set(chatPath, () => ({ body: reply }))
  const input = { agent_name: 'scout', message: 'hi' }
  const session = await world.begin(token)
  for (const id of [7, 7, 8])
    await world.post(
      token,
      { id, method: 'tools/call', params: { name: 'chat_with_agent', arguments: input } },
      { 'mcp-session-id': session },
    )
  const client = await world.connect(token)
  await call(client, 'chat_with_agent', { ...input, idempotency_key: 'mine' })
  await call(await world.connect(token, 'modern'), 'chat_with_agent', input)
  const keys = world.requests
    .filter(({ path }) => path.endsWith('/chat'))
    .map(({ headers }) => headers['idempotency-key'])
  const [first, again, other, own, none] = keys
  assert.equal(first, again)
  assert.notEqual(first, other)
  assert.match(String(first), /^[\w-]{43}$/)
  assert.deepEqual([own, none], ['mine', undefined])
})

test('a connector calls its own agent without naming it, and gets the list of allowed playbooks', async () => {
  await using world = await startWorld()
  const client = await world.connect(world.key('connector', 'scout'))
  world.routes.set(chatPath, () => ({ body: reply }))
  assert.equal((await call(client, 'ask', { message: 'hi' })).response, 'hello')
  const playbook = { name: 'report', exposed: true }
  world.routes.set('GET /api/agents/scout/playbooks', () => ({ body: { playbooks: [playbook], count: 1 } }))
  assert.equal((await call(client, 'list_playbooks')).count, 1)
  const path = '/api/agents/scout/playbooks/report/run'
  world.routes.set(`POST ${path}`, () => ({ body: { ...reply, status: 'queued_timeout' } }))
  const receipt = await call(client, 'run_playbook', { name: 'report', input: 'week 3' })
  assert.equal(receipt.status, 'queued_timeout')
  assert.match(receipt.message, /GET \/api\/agents\/scout\/executions\/e1/)
  assert.deepEqual(world.requests.find((sent) => sent.path === path)?.body, { input: 'week 3' })
  world.routes.set('POST /api/agents/scout/playbooks/secret/run', () => ({
    status: 404,
    body: { detail: 'There is no such playbook.', error: 'skill_not_found' },
  }))
  const refused = await call(client, 'run_playbook', { name: 'secret' })
  assert.deepEqual([refused.error, refused.available], ['playbook_not_exposed', ['report']])
  const person = await world.connect(world.key('user'))
  assert.match((await call(person, 'ask', { message: 'hi' })).message, /^agent: is required/)
  assert.equal((await call(person, 'ask', { message: 'hi', agent: 'scout' })).response, 'hello')
})

test('each call writes one audit entry without argument values; a failed entry does not fail the call', async () => {
  await using world = await startWorld()
  const noted: Loose[] = []
  const credentials: unknown[] = []
  const recorded = Promise.withResolvers<void>()
  world.routes.set('POST /api/internal/audit', ({ body, headers }) => {
    noted.push(body)
    credentials.push(headers.authorization)
    if (noted.length === 3) recorded.resolve()
    return { status: 500, body: {} }
  })
  world.routes.set(chatPath, () => ({ body: reply }))
  const client = await world.connect(world.key('connector', 'scout'))
  await call(client, 'ask', { message: 'a secret' })
  await call(client, 'run_playbook', { name: 'none' })
  await call(client, 'ask', { mesage: 'x' })
  await recorded.promise
  assert.deepEqual([...new Set(credentials)], [`Bearer ${internalSecret}`])
  const fields = noted.map((entry) => [entry.event_action, entry.target_id, entry.details.outcome])
  assert.deepEqual(fields, [
    ['ask', 'scout', 'ok'],
    ['run_playbook', 'scout', 'not_found'],
    ['ask', 'scout', 'invalid_parameters'],
  ])
  assert.deepEqual(noted[0].details.arguments, ['message'])
  assert.ok(!JSON.stringify(noted).includes('a secret'))
})

test('a call with an unstorable name is recorded too', async () => {
  await using world = await startWorld()
  const noted = Promise.withResolvers<Loose>()
  world.routes.set('POST /api/internal/audit', ({ body }) => {
    noted.resolve(body)
    return { status: 204, body: {} }
  })
  const client = await world.connect(world.key('user'))
  const name = `${'x'.repeat(98)}\0😀`
  await call(client, 'get_agent', { name, ['y'.repeat(5_000)]: 1, 'a\0\ud800': 1 })
  const { target_id, details } = await noted.promise
  assert.equal(target_id, `${'x'.repeat(98)}\ufffd\ufffd`)
  assert.deepEqual(details.arguments, ['name', 'y'.repeat(100), 'a\ufffd\ufffd'])
})

test('a session continues under the new name of its agent', async () => {
  await using world = await startWorld()
  const token = world.key('agent', 'scout')
  const client = await world.connect(token)
  world.routes.set('GET /api/agents/explorer/canvas', () => ({ body: [] }))
  world.keys.set(token, { scope: 'agent', agent_name: 'explorer' })
  world.clock.time += 30_000
  assert.equal((await call(client, 'list_canvases')).count, 0)
})

test('413 for a request that is too large, after its whole body was read', async () => {
  await using world = await startWorld()
  const body = { id: 1, method: 'ping', params: { pad: 'x'.repeat(7 * 1024 * 1024) } }
  const refused = await world.post(world.key('user'), body)
  assert.equal(refused.status, 413)
  assert.match(refused.text, /must not exceed 6291456 bytes/)
})

test('a page from a literal address is accepted only at that address', async () => {
  await using world = await startWorld()
  const token = world.key('user')
  const from = async (origin: string) => {
    const ping = { id: 1, method: 'tools/list' }
    return (await world.post(token, ping, { origin })).status
  }
  assert.notEqual(await from('http://127.0.0.1:9'), 403)
  assert.equal(await from('http://203.0.113.7'), 403)
})
