/** Sharing of agents, and permissions between agents: what they allow, and what ends with them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openLive } from './live.ts'
import { type Loose, type Platform, type Reply, startPlatform } from './platform.ts'
import { agentKeyOf, assertShape, chat, createAgent, isSpawned, untilExecution } from './steps.ts'

const [caller, sibling] = ['qa-caller', 'qa-sibling']
let platform: Platform
let callerKey: string
let siblingKey: string
before(async () => {
  platform = await startPlatform()
  for (const name of [caller, sibling]) await createAgent(platform, name)
  callerKey = await agentKeyOf(caller)
  siblingKey = await agentKeyOf(sibling)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const edge = (method: 'POST' | 'DELETE', source: string, target: string): Promise<Reply> =>
  platform.request(method, `/api/agents/${source}/permissions/${target}`)
const edges = async () => (await platform.request('GET', '/api/agents/permissions-edges')).json.edges
const errorOf = async (reply: Promise<Reply>) => {
  const { status, json } = await reply
  return [status, json?.error]
}

describe('agent permissions', () => {
  const asCaller = (method: string, path: string, body?: object) =>
    platform.request(method, `/api/agents/${sibling}${path}`, body, { token: callerKey })
  const heardTask = { message: '[[reply:heard]]' }

  test('an agent cannot call another without permission', async () => {
    const { json } = await platform.request('GET', `/api/agents/${caller}/permissions`)
    assert.deepEqual([json.source_agent, json.permitted_agents], [caller, []])
    const available = json.available_agents.find(({ name }: Loose) => name === sibling)
    assert.deepEqual(available, {
      ...{ name: sibling, status: 'running', type: 'business-assistant', permitted: false },
    })
    assert.deepEqual(await edges(), [])
    for (const [method, path, body] of [
      ['GET', ''],
      ['POST', '/chat', heardTask],
      ['POST', '/task', heardTask],
      ['POST', '/fan-out', { tasks: [heardTask] }],
    ] as const) {
      assert.deepEqual(await errorOf(asCaller(method, path, body)), [403, 'agent_not_permitted'], path)
    }
  })

  test('with permission, the caller sees its sibling and gives it work, is named on each run, and events report it', async () => {
    const ticket = (await platform.request('POST', '/api/ws/ticket')).json.ticket
    const live = openLive(platform, `/ws?ticket=${ticket}`)
    await live.next('connected')
    const granted = await edge('POST', caller, sibling)
    assert.deepEqual(granted.json, { status: 'granted', source_agent: caller, target_agent: sibling })
    assert.deepEqual(await edges(), [{ source: caller, target: sibling }])
    const list = await platform.request('GET', '/api/agents', undefined, { token: callerKey })
    assert.deepEqual(list.json.map(({ name }: Loose) => name).sort(), [caller, sibling])

    const turn = await chat(platform, sibling, heardTask, { token: callerKey })
    assert.equal(turn.json.response, 'heard')
    const task = await asCaller('POST', '/task', heardTask)
    assert.equal(task.json.response, 'heard')
    const fanOut = await asCaller('POST', '/fan-out', { tasks: [heardTask] })
    assert.equal(fanOut.json.status, 'completed')
    const runs = [
      ['chat', turn.json.execution.id, 'agent'],
      ['task', task.json.execution_id, 'agent'],
      ['fan_out', fanOut.json.results[0].execution_id, 'fan_out'],
    ]
    for (const [action, id, trigger] of runs) {
      const event = await live.next('agent_collaboration')
      const { source_agent, target_agent, execution_id } = event
      assert.deepEqual(
        [source_agent, target_agent, event.action, execution_id],
        [caller, sibling, action, id],
      )
      const { json } = await platform.request('GET', `/api/agents/${sibling}/executions/${id}`)
      assert.deepEqual(
        [json.triggered_by, json.source_agent_name, json.source_mcp_scope, json.chain_depth],
        [trigger, caller, 'agent', 1],
      )
    }
    live.end()
  })

  test('a permitted agent sees only the runs that it started there, and cannot act as a person or owner', async () => {
    const own = await chat(platform, sibling, 'a private word [[reply:yes]]')
    const id = own.json.execution.id
    const ownRuns = await asCaller('GET', '/executions')
    assert.ok(ownRuns.json.length >= 3)
    assert.ok(ownRuns.json.every((row: Loose) => row.source_agent_name === caller))
    assert.deepEqual(await errorOf(asCaller('GET', `/executions/${id}`)), [404, 'execution_not_found'])
    assert.deepEqual(await errorOf(asCaller('POST', '/stop')), [403, 'person_required'])
    assert.deepEqual(await errorOf(asCaller('POST', '/share', { email: 'a@example.com' })), [
      403,
      'person_required',
    ])
    assert.deepEqual(await errorOf(asCaller('POST', `/permissions/${caller}`)), [403, 'person_required'])
    assert.deepEqual(await errorOf(asCaller('PUT', '/tags', { tags: ['x'] })), [403, 'owner_required'])
    assert.deepEqual(
      await errorOf(platform.request('GET', `/api/agents/${caller}`, undefined, { token: siblingKey })),
      [403, 'agent_not_permitted'],
    )
  })

  test('its live socket shows the sibling while permitted, and nothing after the withdrawal', async () => {
    const live = openLive(platform, `/ws/events?token=${callerKey}`)
    assert.deepEqual((await live.next('connected')).accessible_agents.sort(), [caller, sibling])
    const label = (agent: string, text: string) =>
      platform.request('PUT', `/api/agents/${agent}/label`, { label: text })
    const isAbout = (agent: string) => (event: Loose) => event.agent_name === agent
    await label(sibling, 'seen')
    await live.next('agent_label_changed', isAbout(sibling))
    assert.equal((await edge('DELETE', caller, sibling)).json.status, 'withdrawn')
    await label(sibling, 'unseen')
    await label(caller, 'own')
    await live.next('agent_label_changed', isAbout(caller))
    const labels = live.messages
      .filter(({ type }) => type === 'agent_label_changed')
      .map(({ label }) => label)
    assert.deepEqual(labels, ['seen', 'own'])
    live.end()
  })

  test('after the withdrawal, the next call is refused', async () => {
    assert.deepEqual(await edges(), [])
    assert.deepEqual(await errorOf(asCaller('GET', '')), [403, 'agent_not_permitted'])
    assert.deepEqual(await errorOf(asCaller('POST', '/chat', heardTask)), [403, 'agent_not_permitted'])
    assert.equal((await edge('DELETE', caller, sibling)).status, 200)
  })

  test('PUT replaces the whole list; unknown agents and the agent itself are refused without changes', async () => {
    const put = (permitted_agents: unknown) =>
      platform.request('PUT', `/api/agents/${caller}/permissions`, { permitted_agents })
    assert.deepEqual((await put([sibling])).json, {
      status: 'updated',
      source_agent: caller,
      permitted_count: 1,
    })
    assert.deepEqual(await errorOf(put([sibling, 'qa-none'])), [404, 'agent_not_found'])
    assert.deepEqual(await errorOf(put([caller])), [422, 'validation_error'])
    assert.deepEqual(await errorOf(put('all')), [422, 'validation_error'])
    assert.deepEqual(await errorOf(edge('POST', caller, 'qa-none')), [404, 'agent_not_found'])
    assert.deepEqual(await edges(), [{ source: caller, target: sibling }])
    assert.equal((await put([])).json.permitted_count, 0)
  })

  test('a chain of calls ends at the eighth hop', async () => {
    await edge('POST', caller, sibling)
    await edge('POST', sibling, caller)
    const task = { message: '[[sleep:120]] [[reply:late]]', async_mode: true }
    const startTask = (to: string, token: string) =>
      platform.request('POST', `/api/agents/${to}/task`, task, { token })
    const end = ({ agent, id }: { agent: string; id: string }) =>
      platform.request('POST', `/api/agents/${agent}/executions/${id}/terminate`)

    let running = { agent: caller, id: (await startTask(caller, platform.token)).json.execution_id }
    for (let depth = 1; depth <= 8; depth += 1) {
      await untilExecution(platform, running.agent, running.id, isSpawned)
      const [to, token] = running.agent === caller ? [sibling, callerKey] : [caller, siblingKey]
      const reply = await startTask(to, token)
      assert.equal(reply.status, 200, reply.text)
      const next = { agent: to, id: reply.json.execution_id }
      const row = await untilExecution(platform, to, next.id, isSpawned)
      assert.equal(row.chain_depth, depth)
      await end(running)
      running = next
    }
    const refused = running.agent === caller ? startTask(sibling, callerKey) : startTask(caller, siblingKey)
    assert.deepEqual(await errorOf(refused), [403, 'inter_agent_depth_exceeded'])
    const again = running.agent === caller ? startTask(caller, callerKey) : startTask(sibling, siblingKey)
    assert.deepEqual(await errorOf(again), [403, 'inter_agent_depth_exceeded'])
    await end(running)
  })

  test('a renamed agent keeps its permissions; a new agent with a deleted name has none', async () => {
    await createAgent(platform, 'qa-third')
    await edge('POST', caller, 'qa-third')
    await platform.request('PUT', '/api/agents/qa-third/rename', { new_name: 'qa-fourth' })
    const access = (name: string) =>
      errorOf(platform.request('GET', `/api/agents/${name}`, undefined, { token: callerKey }))
    assert.deepEqual(await access('qa-fourth'), [200, undefined])
    await platform.request('DELETE', '/api/agents/qa-fourth')
    await createAgent(platform, 'qa-fourth')
    assert.deepEqual(await access('qa-fourth'), [403, 'agent_not_permitted'])
    assert.ok((await edges()).every(({ target }: Loose) => target !== 'qa-fourth'))
  })
})

test('items of one agent are unknown under the name of another, for every caller', async () => {
  const own = (method: string, path: string, body?: object) =>
    platform.request(method, `/api/agents/${caller}${path}`, body)
  const cron = { name: 'own', cron_expression: '0 3 1 1 *', message: 'x' }
  const schedule = `/schedules/${(await own('POST', '/schedules', cron)).json.id}`
  const { json: turn } = await chat(platform, caller, 'mine [[reply:yes]]')
  const run = `/executions/${turn.execution.id}`
  const conversation = `/sessions/${turn.session.id}`
  const fanOut = `/fan-out/${(await own('POST', '/fan-out', { tasks: [{ id: 'a', message: 'x' }] })).json.fan_out_id}`
  const owned: [method: string, path: string, body?: object][] = [
    ['GET', schedule],
    ['PUT', schedule, { name: 'theirs' }],
    ['DELETE', schedule],
    ['POST', `${schedule}/trigger`],
    ['POST', `${schedule}/webhook`],
    ['GET', `${schedule}/fires`],
    ['GET', run],
    ['GET', `${run}/log`],
    ['GET', `${run}/stream`],
    ['POST', `${run}/terminate`],
    ['GET', conversation],
    ['POST', `${conversation}/message`, { message: 'x' }],
    ['DELETE', conversation],
    ['GET', fanOut],
  ]
  for (const [method, path, body] of owned) {
    for (const token of [platform.token, siblingKey]) {
      const reply = await platform.request(method, `/api/agents/${sibling}${path}`, body, { token })
      assert.ok([403, 404].includes(reply.status), `${method} ${path}: ${reply.text}`)
      if (token === platform.token) assert.equal(reply.status, 404, `${method} ${path}: ${reply.text}`)
    }
  }
  for (const path of [schedule, run, conversation, fanOut]) assert.equal((await own('GET', path)).status, 200)
})

describe('shares', () => {
  const api = (method: string, path: string, body?: object) =>
    platform.request(method, `/api/agents/${caller}${path}`, body)

  test('a share is listed with the agent, lets its address sign in, and can be made only once', async () => {
    await platform.request('PUT', '/api/users/me/email', { email: 'root@example.com' })
    const { status, json } = await api('POST', '/share', { email: 'Guest@Example.com' })
    assert.equal(status, 200)
    assertShape(
      json,
      {
        ...{ id: 'string', agent_name: 'string', shared_with_email: 'string', shared_by_id: 'string' },
        ...{ shared_by_email: 'string', created_at: 'string' },
      },
      'share',
    )
    assert.equal(json.shared_with_email, 'guest@example.com')
    assert.deepEqual((await api('GET', '/shares')).json, [json])
    assert.deepEqual((await api('GET', '')).json.shares, [json])
    const allowed = (await platform.request('GET', '/api/settings/email-whitelist')).json
    const entry = allowed.find(({ email }: Loose) => email === 'guest@example.com')
    assert.deepEqual([entry?.source, entry?.default_role], ['agent_sharing', 'user'])
    const access = (await api('GET', '/access')).json
    assert.deepEqual(
      access.map(({ email, relation, status }: Loose) => [email, relation, status]),
      [
        ['root@example.com', 'owner', 'active'],
        ['guest@example.com', 'shared', 'pending'],
      ],
    )
    assert.deepEqual(await errorOf(api('POST', '/share', { email: 'guest@example.com' })), [
      409,
      'already_shared',
    ])
    assert.deepEqual(await errorOf(api('POST', '/share', { email: 'ROOT@example.com' })), [400, 'self_share'])
    assert.deepEqual(await errorOf(api('POST', '/share', { email: 'nobody' })), [422, 'validation_error'])
    assert.deepEqual(
      await errorOf(
        platform.request('POST', '/api/agents/roost-system/share', { email: 'guest@example.com' }),
      ),
      [403, 'system_agent_protected'],
    )
  })

  test('a removed share is gone; an address without a share is 404', async () => {
    const remove = () => api('DELETE', '/share/guest%40example.com')
    assert.equal((await remove()).status, 200)
    assert.deepEqual((await api('GET', '/shares')).json, [])
    assert.deepEqual(await errorOf(remove()), [404, 'not_found'])
  })
})
