/** Creating, listing, renaming, deleting, starting and stopping agents, also concurrently. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { containerNames, docker, dockerOnly, isContainerRunning, limitsOf, volumeNames } from './engine.ts'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import {
  agentKeyOf,
  answerOf,
  assertShape,
  beginTurn,
  createAgent,
  execution,
  isOver,
  isSpawned,
  runInAgent,
  shapeOf,
  untilExecution,
} from './steps.ts'

let platform: Platform
before(async () => {
  platform = await startPlatform()
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const get = (path: string) => platform.request('GET', `/api/agents${path}`)
const post = (path: string, body?: object) => platform.request('POST', `/api/agents${path}`, body)
const statusOf = async (name: string) => (await get(`/${name}`)).json.status
const untilStatus = (name: string, status: string) =>
  eventually(
    () => statusOf(name),
    (current) => current === status,
  )

/** Holds a port like another program of the machine. */
async function holdPort(port: number): Promise<AsyncDisposable> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { [Symbol.asyncDispose]: () => new Promise((done) => server.close(() => done())) }
}

const row = shapeOf({
  string: 'name type status created runtime owner avatar_url',
  'string?': 'runtime_model template container_id label github_repo base_image_version',
  number: 'port max_parallel_tasks',
  boolean: 'is_owner is_shared is_system ephemeral autonomy_enabled read_only_enabled',
  object: 'resources',
  array: 'tags',
})
const details = {
  ...row,
  ...shapeOf({
    boolean: 'can_share can_delete mcp_exposed operator_resume needs_recreate',
    array: 'shares recreate_reasons',
    number: 'execution_timeout_seconds',
    'number?': 'last_heartbeat_age_seconds',
    string: 'heartbeat_state',
    'string?': 'custom_instructions',
    object: 'circuit_breaker',
  }),
}

describe('an agent created with only a name', () => {
  const name = 'qa-plain'
  let created: Loose

  test('runs with the defaults', async () => {
    created = await createAgent(platform, name)
    assertShape(created, row, 'row')
    for (const list of ['missing_credentials', 'schedule_errors', 'warnings'])
      assert.deepEqual(created[list], [], list)
    assert.equal(created.schedules_created, 0)
    assert.equal(created.type, 'business-assistant')
    assert.equal(created.status, 'running')
    assert.equal(created.runtime, 'claude-code')
    assert.deepEqual(created.resources, { cpu: '2', memory: '4g' })
    assert.equal(created.autonomy_enabled, true)
    assert.equal(created.read_only_enabled, false)
    assert.equal(created.max_parallel_tasks, 3)
    assert.equal(created.owner, 'admin')
    assert.match(created.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('is listed as it was returned, and details add to it', async () => {
    const listed = (await get('')).json.find((agent: Loose) => agent.name === name)
    assertShape(listed, row, 'listed')
    const agent = (await get(`/${name}`)).json
    assertShape(agent, details, 'details')
    assert.deepEqual(agent.circuit_breaker, { enabled: false, open: false })
    assert.equal(agent.execution_timeout_seconds, 3600)
    assert.equal(agent.needs_recreate, false)
  })

  test('sends heartbeats, and its stats are available within 15 s of its start', async () => {
    await eventually(
      () => get(`/${name}`),
      (reply) => reply.json.heartbeat_state === 'alive' && reply.json.last_heartbeat_age_seconds < 15,
    )
    // Where a container sees its control group, its own report comes first.
    const counters = 'test -r /sys/fs/cgroup/cpu.stat || test -r /sys/fs/cgroup/cpuacct/cpuacct.usage'
    const source = (await runInAgent(name, `(${counters}) && echo agent || echo engine`)).trim()
    const stats = await eventually(
      () => get(`/${name}/stats`),
      ({ json }) => json.memory_used_bytes > 0 && json.cpu_percent !== null && json.source === source,
      15_000,
    )
    const numbers = 'cpu_percent memory_used_bytes memory_limit_bytes memory_percent network_rx_bytes'
    assertShape(
      stats.json,
      shapeOf({ number: `${numbers} network_tx_bytes uptime_seconds age_seconds` }),
      'stats',
    )
    assert.equal(stats.json.memory_limit_bytes, 4 * 1024 ** 3)
  })

  test('is in the overviews of contexts and of autonomy', async () => {
    const contexts = (await get('/context-stats')).json.agents
    const own = contexts.find((agent: Loose) => agent.name === name)
    assert.deepEqual([own.status, own.activity_state, own.context_percent], ['running', 'idle', 0])
    assert.deepEqual((await get('/autonomy-status')).json[name], {
      autonomy_enabled: true,
      total_schedules: 0,
      enabled_schedules: 0,
    })
    const info = (await get(`/${name}/info`)).json
    assert.deepEqual([info.agent_name, info.has_template, info.status], [name, false, 'running'])
  })

  test('starting it again and stopping it twice changes nothing', async () => {
    const before = (await get(`/${name}`)).json.container_id
    const start = await post(`/${name}/start`)
    assert.equal(start.status, 200)
    assertShape(
      start.json,
      { message: 'string', credentials_injection: 'string', recreated: 'boolean' },
      'start',
    )
    assert.equal(start.json.recreated, false)
    assert.equal((await get(`/${name}`)).json.container_id, before)
    for (const _ of [1, 2]) assert.equal((await post(`/${name}/stop`)).status, 200)
    assert.equal(await statusOf(name), 'stopped')
  })

  test('while stopped it shows what needs no container and refuses the rest', async () => {
    const stats = (await get(`/${name}/stats`)).json
    assert.deepEqual([stats.status, stats.cpu_percent, stats.memory_used_bytes], ['stopped', null, null])
    assert.match((await get(`/${name}/logs`)).json.logs, /\S/)
    assert.equal((await get(`/${name}/activity`)).json.status, 'offline')
    const info = (await get(`/${name}/info`)).json
    assertShape(info, { resources: 'object', message: 'string', has_template: 'boolean' }, 'info')
    for (const [method, path] of [
      ['GET', 'files'],
      ['GET', 'files/download?path=a'],
      ['PUT', 'files?path=a'],
      ['DELETE', 'files?path=a'],
      ['POST', 'files/mkdir'],
      ['POST', 'ssh-access'],
    ] as const) {
      const body = method === 'PUT' ? { content: '' } : method === 'POST' ? { path: 'a' } : undefined
      const reply = await platform.request(method, `/api/agents/${name}/${path}`, body)
      assert.deepEqual([reply.status, reply.json.error], [409, 'agent_stopped'], `${method} ${path}`)
    }
    const chat = await post(`/${name}/chat`, { message: 'hello' })
    assert.deepEqual([chat.status, chat.json.error], [503, 'agent_not_running'])
  })

  test('a stopped agent stays stopped, even if its container is started from outside', {
    skip: dockerOnly,
  }, async () => {
    await docker('start', `agent-${name}`)
    await eventually(
      () => docker('inspect', '-f', '{{.State.Running}}', `agent-${name}`),
      (running) => running === 'false',
    )
    assert.equal(await statusOf(name), 'stopped')
    await platform.killApi()
    await platform.startApi()
    platform.token = await signIn(platform)
    assert.equal(await statusOf(name), 'stopped')
    assert.equal((await post(`/${name}/start`)).status, 200)
    assert.equal(await statusOf(name), 'running')
  })

  test('after a kill from outside it is exited, and restarts with its files and conversation', {
    skip: dockerOnly,
  }, async () => {
    assert.equal(
      await answerOf(platform, name, 'the word is quince [[tool:Bash:echo kept > kept.txt]]'),
      'tool-result: (Bash completed with no output)',
    )
    await docker('kill', `agent-${name}`)
    await untilStatus(name, 'exited')
    await untilStatus(name, 'running')
    assert.equal(await answerOf(platform, name, '[[recall:quince]]'), 'recall=yes')
    assert.equal((await get(`/${name}/files/download?path=kept.txt`)).text, 'kept\n')
  })

  test('a container removed from outside is created again at the next start', {
    skip: dockerOnly,
  }, async () => {
    await docker('rm', '-f', `agent-${name}`)
    await untilStatus(name, 'exited')
    const start = await post(`/${name}/start`)
    assert.deepEqual([start.status, start.json.recreated], [200, true])
    assert.equal((await get(`/${name}/files/download?path=kept.txt`)).text, 'kept\n')
  })

  test('gets another SSH port at start when its port is in use', { skip: dockerOnly }, async () => {
    const usedPort: number = (await get(`/${name}`)).json.port
    await post(`/${name}/stop`)
    await using _other = await holdPort(usedPort)
    const start = await post(`/${name}/start`)
    assert.deepEqual([start.status, start.json.recreate_reason], [200, 'ssh_port'], start.text)
    assert.notEqual(start.json.port, usedPort)
    assert.equal((await get(`/${name}`)).json.port, start.json.port)
    assert.match(await docker('port', `agent-${name}`), new RegExp(`:${start.json.port}$`))
    assert.equal((await get(`/${name}/files/download?path=kept.txt`)).text, 'kept\n')
  })

  test('gets another SSH port at recovery when its port is in use', { skip: dockerOnly }, async () => {
    const usedPort: number = (await get(`/${name}`)).json.port
    await platform.killApi()
    await docker('stop', '-t', '0', `agent-${name}`)
    await using _other = await holdPort(usedPort)
    await platform.startApi()
    platform.token = await signIn(platform)
    const { port } = await eventually(
      async () => (await get(`/${name}`)).json,
      (agent) => agent.status === 'running' && agent.port !== usedPort,
    )
    assert.match(await docker('port', `agent-${name}`), new RegExp(`:${port}$`))
    assert.equal(await answerOf(platform, name, '[[reply:back]]'), 'back')
  })
})

describe('renaming', () => {
  test('a running agent continues under its new name, with key, files, history and port', async () => {
    const before = await createAgent(platform, 'qa-old')
    const key = await agentKeyOf('qa-old')
    await platform.request('PUT', '/api/agents/qa-old/files?path=a.txt', { content: 'mine' })
    await answerOf(platform, 'qa-old', 'remember damson')
    const reply = await platform.request('PUT', '/api/agents/qa-old/rename', { new_name: 'qa-new' })
    assert.equal(reply.status, 200, reply.text)
    assertShape(reply.json, { message: 'string' }, 'reply')
    assert.deepEqual(
      [reply.json.old_name, reply.json.new_name, reply.json.was_running],
      ['qa-old', 'qa-new', true],
    )
    assert.equal((await get('/qa-old')).status, 404)
    const renamed = (await get('/qa-new')).json
    assert.deepEqual([renamed.status, renamed.port], ['running', before.port])
    assert.equal(await agentKeyOf('qa-new'), key)
    const containers = (await containerNames()).filter((each) => /^agent-qa-(old|new)$/.test(each))
    assert.deepEqual(containers, ['agent-qa-new'])
    assert.equal(await answerOf(platform, 'qa-new', '[[recall:damson]]'), 'recall=yes')
    assert.equal((await get('/qa-new/files/download?path=a.txt')).text, 'mine')
    const rows = (await get('/qa-new/executions')).json
    assert.deepEqual([...new Set(rows.map((each: Loose) => each.agent_name))], ['qa-new'])
    assert.equal(rows.length, 2)
  })

  test('a stopped agent stays stopped', async () => {
    await post('/qa-new/stop')
    const reply = await platform.request('PUT', '/api/agents/qa-new/rename', { new_name: 'qa-still' })
    assert.equal(reply.json.was_running, false)
    assert.equal(await statusOf('qa-still'), 'stopped')
    await post('/qa-still/start')
    assert.equal(await answerOf(platform, 'qa-still', '[[recall:damson]]'), 'recall=yes')
  })

  test('names that are in use, reserved, malformed or its own are refused', async () => {
    for (const [new_name, status, error] of [
      ['qa-plain', 409, 'agent_exists'],
      ['slots', 422, 'reserved_agent_name'],
      ['roost-x', 422, 'reserved_agent_name'],
      ['Upper', 422, 'validation_error'],
      ['qa-still', 422, 'validation_error'],
    ] as const) {
      const reply = await platform.request('PUT', '/api/agents/qa-still/rename', { new_name })
      assert.deepEqual([reply.status, reply.json.error], [status, error], new_name)
    }
  })
})

describe('ending runs', () => {
  test('stopping cancels the running turn; queued turns run after the next start', async () => {
    await post('/qa-plain/start')
    const running = await beginTurn(platform, 'qa-plain', '[[sleep:60]]')
    await untilExecution(platform, 'qa-plain', running.id, isSpawned)
    const waiting = await beginTurn(platform, 'qa-plain', 'later [[reply:at last]]')
    assert.equal((await post('/qa-plain/stop')).status, 200)
    const done = JSON.parse((await running.ended).trim().split('\n').at(-1) ?? '')
    assert.deepEqual([done.type, done.status, done.error_code], ['done', 'cancelled', 'agent_stopped'])
    const row = await execution(platform, 'qa-plain', running.id)
    assert.deepEqual([row.status, row.error_code], ['cancelled', 'agent_stopped'])
    assert.equal((await execution(platform, 'qa-plain', waiting.id)).status, 'queued')
    await post('/qa-plain/start')
    const later = await untilExecution(platform, 'qa-plain', waiting.id, isOver)
    assert.deepEqual([later.status, later.response], ['success', 'at last'])
    await waiting.ended
  })

  test('deleting cancels both and frees the name; a new agent of that name starts empty', async () => {
    await createAgent(platform, 'qa-gone')
    const running = await beginTurn(platform, 'qa-gone', '[[sleep:60]]')
    await untilExecution(platform, 'qa-gone', running.id, isSpawned)
    const waiting = await beginTurn(platform, 'qa-gone', 'never')
    const key = await agentKeyOf('qa-gone')
    assert.equal((await platform.request('DELETE', '/api/agents/qa-gone')).status, 200)
    for (const { ended } of [running, waiting]) {
      const done = JSON.parse((await ended).trim().split('\n').at(-1) ?? '')
      assert.deepEqual([done.status, done.error_code], ['cancelled', 'agent_deleted'])
    }
    assert.equal((await platform.request('GET', '/api/version', undefined, { token: key })).status, 401)
    assert.equal((await platform.request('DELETE', '/api/agents/qa-gone')).status, 404)
    await createAgent(platform, 'qa-gone')
    assert.deepEqual((await get('/qa-gone/executions')).json, [])
    assert.deepEqual((await get('/qa-gone/chat/sessions')).json.sessions, [])
    assert.equal((await get(`/qa-gone/executions/${running.id}`)).status, 404)
    await platform.request('DELETE', '/api/agents/qa-gone')
    await eventually(volumeNames, (volumes) => !volumes.some((each) => each.includes('agent-qa-gone-')))
  })
})

describe('concurrent requests', () => {
  test('of twenty creations of one name one succeeds, and the others leave nothing', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => post('', { name: 'qa-race' })))
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    for (const reply of replies.filter(({ status }) => status !== 200))
      assert.deepEqual([reply.status, reply.json.error], [409, 'agent_exists'])
    assert.equal((await containerNames()).filter((each) => each === 'agent-qa-race').length, 1)
    const volumes = await volumeNames()
    assert.equal(volumes.filter((each) => /agent-qa-race-\w+-workspace/.test(each)).length, 1)
  })

  test('many concurrent starts and stops end in a consistent state', async () => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) => post(`/qa-race/${index % 2 ? 'start' : 'stop'}`)),
    )
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
    const status = await statusOf('qa-race')
    assert.equal(await isContainerRunning('qa-race'), status === 'running')
    await post('/qa-race/start')
    assert.equal(await answerOf(platform, 'qa-race', '[[reply:fine]]'), 'fine')
  })

  test('of four deletions one succeeds; an idempotency key creates one agent for any body', async () => {
    const replies = await Promise.all(
      Array.from({ length: 4 }, () => platform.request('DELETE', '/api/agents/qa-race')),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 404, 404, 404])
    const headers = { 'idempotency-key': 'one agent' }
    const first = await platform.request('POST', '/api/agents', { name: 'qa-once' }, { headers })
    const again = await platform.request('POST', '/api/agents', { name: 'qa-other' }, { headers })
    assert.equal(again.headers.get('x-idempotent-replay'), 'true')
    assert.deepEqual([again.status, again.json], [200, first.json])
    assert.equal((await get('/qa-other')).status, 404)
  })
})

test('create accepts label, tags, instructions, model and resources; the list filters by any of the tags', async () => {
  const created = await createAgent(platform, 'qa-full', {
    type: 'researcher',
    label: '  Büro  ',
    tags: ['Prod ', 'alpha', 'prod'],
    runtime_model: 'haiku',
    custom_instructions: 'Speak of the harbour.',
    resources: { cpu: '1', memory: '1g' },
  })
  assert.deepEqual(
    [created.type, created.label, created.tags, created.runtime_model, created.resources],
    ['researcher', 'Büro', ['alpha', 'prod'], 'haiku', { cpu: '1', memory: '1g' }],
  )
  assert.match(await answerOf(platform, 'qa-full', '[[model]]'), /haiku/)
  assert.match(await answerOf(platform, 'qa-full', '[[system]]'), /Speak of the harbour\./)
  assert.deepEqual(await limitsOf('qa-full'), { memoryBytes: 1024 ** 3, cpus: 1 })
  const named = async (tags: string) => (await get(`?tags=${tags}`)).json.map((agent: Loose) => agent.name)
  assert.deepEqual(await named('nothing,alpha'), ['qa-full'])
  assert.deepEqual(await named('nothing'), [])
  assert.ok((await named('')).length > 1)
})

test('logs are the newest lines, at most as many as requested', async () => {
  const logs = async (query: string) => (await get(`/qa-full/logs${query}`)).json
  const { agent_name, logs: all } = await logs('')
  assert.equal(agent_name, 'qa-full')
  const lines = all.trimEnd().split('\n')
  assert.ok(lines.length > 1)
  assert.equal((await logs('?tail=1')).logs.trimEnd().split('\n').length, 1)
  for (const tail of ['0', '5001', 'x']) assert.equal((await get(`/qa-full/logs?tail=${tail}`)).status, 422)
})
