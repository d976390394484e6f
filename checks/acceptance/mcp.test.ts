/** The platform as tools: for a protocol client, and for the coding CLIs inside agents. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { createAgent, isOver, isSpawned, untilExecution } from './steps.ts'

/** Long enough for answers on a busy machine; the second server has a short timeout. */
const longTimeout = { ROOST_MCP_CHAT_TIMEOUT_MS: '120000' }
const shortTimeoutSeconds = 7
let platform: Platform
let shortTimeoutUrl: string
let userKey: string
before(async () => {
  platform = await startPlatform({ env: longTimeout })
  await platform.startBeside('mcp/src/start.ts')
  const shortTimeout = { ROOST_MCP_PORT: '0', ROOST_MCP_CHAT_TIMEOUT_MS: String(shortTimeoutSeconds * 1000) }
  shortTimeoutUrl = (await platform.startBeside('mcp/src/start.ts', shortTimeout)).url
  await Promise.all([createAgent(platform, 'mcp-one'), createAgent(platform, 'mcp-two')])
  await platform.request('PUT', '/api/agents/mcp-one/permissions', { permitted_agents: ['mcp-two'] })
  userKey = (await platform.request('POST', '/api/mcp/keys', { name: 'tools' })).json.key
})
after(() => platform?.[Symbol.asyncDispose]())

async function connect(
  key: string,
  url = `${platform.url}/mcp`,
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client({ name: 'acceptance', version: '1.0.0' })
  const requestInit = { headers: { authorization: `Bearer ${key}`, ...headers } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

async function call(client: Client, name: string, input: object = {}, options: object = {}): Promise<Loose> {
  const result: Loose = await client.callTool({ name, arguments: { ...input } }, options)
  const content = JSON.parse(result.content[0].text)
  if (!result.isError || result.structuredContent) assert.deepEqual(content, result.structuredContent)
  return { ...content, isError: result.isError ?? false }
}

const plain = (body: object, headers: Record<string, string> = {}) =>
  fetch(`${platform.url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

describe('authentication', () => {
  test('401 without a key, with a wrong one, and with a session token', async () => {
    const wrong: Record<string, string>[] = [
      {},
      { authorization: 'Bearer svc_mcp_wrong' },
      { authorization: `Bearer ${platform.token}` },
    ]
    for (const headers of wrong) {
      const response = await plain(initialize, headers)
      assert.equal(response.status, 401)
      assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/)
    }
  })

  test('a session belongs to the key that started it', async () => {
    const started = await plain(initialize, { authorization: `Bearer ${userKey}` })
    const session = started.headers.get('mcp-session-id') ?? assert.fail('no session')
    await started.text()
    const other = (await platform.request('POST', '/api/mcp/keys', { name: 'other' })).json.key
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    const asOther = await plain(list, { authorization: `Bearer ${other}`, 'mcp-session-id': session })
    assert.equal(asOther.status, 404)
    const own = await plain(list, { authorization: `Bearer ${userKey}`, 'mcp-session-id': session })
    assert.equal(own.status, 200)
    await own.text()
  })

  test('403 for a page of another origin', async () => {
    const response = await plain(initialize, {
      authorization: `Bearer ${userKey}`,
      origin: 'https://evil.example',
    })
    assert.equal(response.status, 403)
  })

  test('an ops key sees no tools', async () => {
    const { json } = await platform.request('POST', '/api/mcp/keys', { name: 'watch', scope: 'ops' })
    const client = await connect(json.key)
    assert.deepEqual((await client.listTools()).tools, [])
    await assert.rejects(client.callTool({ name: 'list_agents', arguments: {} }), /no tool/)
    await client.close()
  })
})

describe('a client with a user key', () => {
  const message = `[[sleep:${shortTimeoutSeconds + 3}]] [[reply:late]]`
  const longWork = { agent_name: 'mcp-one', message, parallel: true, idempotency_key: 'k1' }
  let long: Promise<{ receipt: Loose; progress: unknown[] }>
  // Runs during the other tests.
  before(() => {
    long = startLongWork()
  })

  async function startLongWork() {
    const client = await connect(userKey, shortTimeoutUrl)
    const progress: unknown[] = []
    const onprogress = (event: unknown) => progress.push(event)
    const receipt = await call(client, 'chat_with_agent', longWork, { onprogress })
    await client.close()
    return { receipt, progress }
  }

  test('lists tools with schemas, and calls them', async () => {
    const client = await connect(userKey)
    const { tools } = await client.listTools()
    for (const tool of tools) {
      assert.ok((tool.description ?? '').length > 20, tool.name)
      assert.equal(tool.inputSchema.type, 'object')
    }
    assert.ok(tools.some(({ name }) => name === 'delete_agent'))
    const { agents } = await call(client, 'list_agents')
    assert.ok(agents.some(({ name }: Loose) => name === 'mcp-one'))
    const reply = await call(client, 'chat_with_agent', { agent_name: 'mcp-one', message: '[[reply:hello]]' })
    assert.equal(reply.response, 'hello')
    await client.close()
  })

  test('refuses unknown parameters by name, unknown tools, and unknown agents', async () => {
    const client = await connect(userKey)
    const refused = await call(client, 'get_agent', { name: 'mcp-one', nmae: 'x' })
    assert.equal(refused.error, 'invalid_parameters')
    assert.match(refused.message, /"nmae"/)
    await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), {
      code: -32602,
      message: /no tool/,
    })
    const unknown = await call(client, 'get_agent', { name: 'nobody' })
    assert.deepEqual([unknown.error, unknown.isError], ['agent_not_found', true])
    await client.close()
  })

  test('two calls with one Idempotency-Key header are one execution; a different argument is refused', async () => {
    const client = await connect(userKey, undefined, { 'idempotency-key': 'from the header' })
    const task = { agent_name: 'mcp-one', message: '[[reply:once]]', parallel: true }
    const first = await call(client, 'chat_with_agent', task)
    const second = await call(client, 'chat_with_agent', { ...task, idempotency_key: 'from the header' })
    assert.equal(first.response, 'once')
    assert.equal(second.execution_id, first.execution_id)
    const tasks = { agent_name: 'mcp-one', tasks: [{ message: '[[reply:a]]' }] }
    const fanOut = await call(client, 'fan_out', tasks)
    assert.equal((await call(client, 'fan_out', tasks)).fan_out_id, fanOut.fan_out_id)
    const refused = await call(client, 'chat_with_agent', { ...task, idempotency_key: 'another' })
    assert.equal(refused.error, 'invalid_parameters')
    await client.close()
  })

  test("sees a published agent's tool, and calls it", async () => {
    await platform.request('PUT', '/api/agents/mcp-two/mcp-exposed', { enabled: true })
    const client = await connect(userKey)
    await untilPublished(client)
    const reply = await call(client, 'chat_with_mcp_two', { message: '[[reply:direct]]' })
    assert.equal(reply.response, 'direct')
    await client.close()
  })

  test('gets a receipt for long work, progress meanwhile, and the result later', async () => {
    const client = await connect(userKey, shortTimeoutUrl)
    const { receipt, progress } = await long
    assert.equal(receipt.status, 'queued_timeout')
    assert.ok(progress.length >= 1)
    const again = await call(client, 'chat_with_agent', longWork)
    assert.equal(again.execution_id, receipt.execution_id)
    let result: Loose
    do {
      const { execution_id } = receipt
      result = await call(client, 'get_execution_result', { agent_name: 'mcp-one', execution_id })
    } while (result.status === 'queued' || result.status === 'running')
    assert.deepEqual([result.status, result.response], ['success', 'late'])
    await client.close()
  })

  test('creates one audit entry for each call, with the names of its arguments', async () => {
    const { id, key } = (await platform.request('POST', '/api/mcp/keys', { name: 'audited' })).json
    const client = await connect(key)
    await call(client, 'get_agent', { name: 'mcp-one' })
    await call(client, 'list_agents')
    const entries = await auditOf(id, 2)
    assert.deepEqual(entries.map(({ event_action }) => event_action).toSorted(), ['get_agent', 'list_agents'])
    const entry = entries.find(({ event_action }) => event_action === 'get_agent') ?? assert.fail()
    assert.deepEqual([entry.mcp_scope, entry.details.outcome], ['user', 'ok'])
    assert.deepEqual(entry.details.arguments, ['name'])
    await client.close()
  })
})

/** The audit entries of one key's calls; they are written after the response. */
async function auditOf(keyId: string, atLeast: number): Promise<Loose[]> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const path = `/api/audit-log?event_type=mcp_operation&mcp_key_id=${keyId}`
    const { entries } = (await platform.request('GET', path)).json
    if (entries.length >= atLeast) return entries
    await new Promise((done) => setTimeout(done, 100))
  }
  assert.fail('the entries did not appear')
}

/** Waits until the tool list changes; the server checks every 20 s and notifies. */
async function untilPublished(client: Client): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const { tools } = await client.listTools()
    if (tools.some(({ name }) => name === 'chat_with_mcp_two')) return
    await new Promise((done) => setTimeout(done, 100))
  }
  assert.fail('the tool did not appear')
}

describe('an agent', () => {
  const ask = async (message: string, agent = 'mcp-one') =>
    (await platform.request('POST', `/api/agents/${agent}/task`, { message })).json.response as string
  const tool = (name: string, input: object, of = 'mcp__roost__') =>
    `[[tool:${of}${name}:${JSON.stringify(input)}]]`

  // Each runtime has its own naming of a server's tools.
  const runtimes: [string, string, object][] = [
    ['claude-code', 'mcp__roost__', {}],
    ['gemini-cli', 'mcp_roost_', { runtime: 'gemini-cli' }],
    ['codex', 'mcp__roost__', { template: 'codex-assistant' }],
  ]
  for (const [runtime, prefix, body] of runtimes) {
    test(`${runtime} calls a permitted agent from inside its container, and is refused by another`, async () => {
      const name = `mcp-by-${runtime}`
      await createAgent(platform, name, body)
      const granted = await platform.request('POST', `/api/agents/${name}/permissions/mcp-two`)
      assert.equal(granted.status, 200, granted.text)
      const sibling = { agent_name: 'mcp-two', message: `hello from ${runtime}` }
      assert.match(
        await ask(tool('chat_with_agent', sibling, prefix), name),
        new RegExp(`ok: hello from ${runtime}`),
      )
      const [run] = (await platform.request('GET', '/api/agents/mcp-two/executions?limit=1')).json
      assert.deepEqual([run.triggered_by, run.message], ['agent', sibling.message])
      const other = { agent_name: 'mcp-one', message: 'hello' }
      assert.match(await ask(tool('chat_with_agent', other, prefix), name), /Access denied/)
      assert.match(await ask(tool('delete_agent', { name: 'mcp-two' }, prefix), name), /no-tool/)
      await platform.request('DELETE', `/api/agents/${name}`)
    })
  }

  test('lists itself and the agents it may call', async () => {
    const answer = await ask(tool('list_agents', {}))
    assert.match(answer, /"count":2/)
  })

  test('writes a canvas that people see and can share by link', async () => {
    const markdown = { kind: 'markdown', payload: { markdown: 'All is well.' } }
    const html = { id: 'more', kind: 'html', payload: { html: '<b>Bold</b><script>alert(1)</script>' } }
    const answer = await ask(tool('set_canvas', { title: 'State', blocks: [markdown, html] }))
    assert.match(answer, /"block_ids":\["b1","more"\]/)
    const changed = { blocks: [{ id: 'b1', payload: { markdown: 'All is done.' } }] }
    assert.match(await ask(tool('patch_canvas', changed)), /"canvas_id":"main"/)
    const path = '/api/agents/mcp-one/canvas'
    const { title, blocks } = (await platform.request('GET', `${path}/main`)).json
    assert.equal(title, 'State')
    assert.deepEqual(
      blocks.map(({ id, payload }: Loose) => [id, payload]),
      [
        ['b1', { markdown: 'All is done.' }],
        ['more', { html: '<b>Bold</b>' }],
      ],
    )
    const view = async (scope: string, token: string | null) => {
      const share = (await platform.request('POST', `${path}/main/share`, { scope })).json
      return platform.request('GET', `/api/public/canvas/${share.token}`, undefined, { token })
    }
    assert.equal((await view('public', null)).json.title, 'State')
    assert.equal((await view('authorized', null)).json.error, 'sign_in_required')
    assert.equal((await view('authorized', platform.token)).json.title, 'State')
    assert.match(await ask(tool('clear_canvas', {})), /"deleted":true/)
    assert.deepEqual((await platform.request('GET', path)).json, [])
  })
})

describe('a connector', () => {
  const skill = (name: string, head: string) =>
    platform.request('PUT', `/api/agents/mcp-one/files?path=.claude/skills/${name}/SKILL.md`, {
      content: `---\n${head}\n---\nDo as you are told.\n`,
    })

  test('asks its agent and runs exposed playbooks, and has no other tools', async () => {
    for (const [name, head] of [
      ['open', 'description: Open to all'],
      ['closed', 'description: Not offered'],
      ['inner', 'user-invocable: false'],
    ] as const)
      assert.equal((await skill(name, head)).status, 200)
    const connector = '/api/agents/mcp-one/connector'
    const { key } = (await platform.request('POST', `${connector}/key`)).json
    await platform.request('PUT', connector, { expose_all_playbooks: false, exposed_playbooks: ['open'] })
    const client = await connect(key)
    const { tools } = await client.listTools()
    assert.deepEqual(tools.map(({ name }) => name).toSorted(), ['ask', 'list_playbooks', 'run_playbook'])
    assert.equal(
      (await call(client, 'ask', { message: '[[reply:at your service]]' })).response,
      'at your service',
    )
    const { playbooks } = await call(client, 'list_playbooks')
    assert.deepEqual(
      playbooks.map((each: Loose) => [each.name, each.description]),
      [['open', 'Open to all']],
    )
    const done = await call(client, 'run_playbook', { name: 'open', input: 'week 3 [[echo]]' })
    assert.equal(done.status, 'success', JSON.stringify(done))
    assert.match(done.response, /Do as you are told[\s\S]*week 3/)
    for (const name of ['closed', 'inner', 'none']) {
      const refused = await call(client, 'run_playbook', { name })
      assert.deepEqual([refused.error, refused.available], ['playbook_not_exposed', ['open']])
    }
    await assert.rejects(client.callTool({ name: 'list_agents', arguments: {} }), /no tool/)
    await platform.request('PUT', connector, { enabled: false })
    assert.equal((await call(client, 'list_playbooks')).error, 'agent_not_found')
    await client.close()
    const all = (await platform.request('GET', '/api/agents/mcp-one/playbooks')).json
    assert.deepEqual(
      all.playbooks.map((each: Loose) => [each.name, each.exposed]),
      [
        ['closed', false],
        ['open', false],
      ],
    )
  })

  test('a revoked key, and a connector that is switched off, end the running turn', async () => {
    const connector = '/api/agents/mcp-one/connector'
    const ends = [
      (keyId: string) => platform.request('DELETE', `/api/mcp/keys/${keyId}`),
      () => platform.request('PUT', connector, { enabled: false }),
    ]
    for (const end of ends) {
      const { key, key_id } = (await platform.request('POST', `${connector}/key`)).json
      const client = await connect(key)
      const asked = call(client, 'ask', { message: '[[sleep:600]]' }).catch(String)
      const running = async (): Promise<Loose[]> =>
        (await platform.request('GET', '/api/agents/mcp-one/executions?status=running')).json
      const [{ id }] = await eventually(running, (rows) => rows.length === 1 && rows.every(isSpawned))
      assert.ok((await end(key_id)).status < 300)
      const row = await untilExecution(platform, 'mcp-one', id, isOver)
      assert.deepEqual([row.status, row.error_code], ['cancelled', 'access_ended'])
      await asked
      await client.close()
    }
  })
})
