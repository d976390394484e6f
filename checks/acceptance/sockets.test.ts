/** Live sockets as a browser and a program use them: events of agents, and resuming after a disconnect. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openLive } from './live.ts'
import { type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import { agentKeyOf, assertShape, chat, createAgent, docker } from './steps.ts'

let platform: Platform
before(async () => {
  platform = await startPlatform()
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const open = (path: string) => openLive(platform, path)

async function ticket(): Promise<string> {
  const reply = await platform.request('POST', '/api/ws/ticket')
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.json.expires_in, 30)
  return reply.json.ticket
}
const openWithTicket = async (more = '') => open(`/ws?ticket=${await ticket()}${more}`)

describe('who may open a socket', () => {
  test('a ticket works once; the greeting names the user', async () => {
    const used = await ticket()
    const live = open(`/ws?ticket=${used}`)
    const greeting = await live.next('connected')
    assertShape(greeting, { _eid: 'string', ts: 'string', user: 'string', scope: 'string' }, 'connected')
    assert.deepEqual([greeting.user, greeting.accessible_agents], ['admin', ['*']])
    assert.equal(await open(`/ws?ticket=${used}`).closed, 4001)
    live.send('ping')
    await live.next('pong')
    live.send('{"type":"ping"}')
    assert.deepEqual(await live.next('pong', (message) => message !== 'pong'), { type: 'pong' })
    live.send('refresh')
    assert.deepEqual((await live.next('refreshed')).accessible_agents, ['*'])
    live.end()
  })

  test('401 for a ticket without a credential; 4001 without one, 4003 for keys of narrow scopes', async () => {
    assert.equal((await platform.request('POST', '/api/ws/ticket', undefined, { token: null })).status, 401)
    const mint = async (scope: string) =>
      (await platform.request('POST', '/api/mcp/keys', { name: scope, scope })).json.key
    const user = open(`/ws/events?token=${await mint('user')}`)
    assert.equal((await user.next('connected')).scope, 'user')
    user.end()
    assert.equal(await open(`/ws/events?token=${await mint('ops')}`).closed, 4003)
    assert.equal(await open(`/ws/events?token=${await mint('portal_delegate')}`).closed, 4003)
    assert.equal(await open(`/ws/events?token=${platform.token}`).closed, 4001)
    assert.equal(await open('/ws/events').closed, 4001)
    assert.equal(await open('/ws').closed, 4001)
  })

  test('a socket closes with the session or key that opened it', async () => {
    const token = await signIn(platform)
    const ticket = (await platform.request('POST', '/api/ws/ticket', undefined, { token })).json.ticket
    const live = open(`/ws?ticket=${ticket}`)
    await live.next('connected')
    await platform.request('POST', '/api/auth/logout', undefined, { token })
    assert.equal(await live.closed, 4001)
    const { id, key } = (await platform.request('POST', '/api/mcp/keys', { name: 'brief' })).json
    const program = open(`/ws/events?token=${key}`)
    await program.next('connected')
    await platform.request('POST', `/api/mcp/keys/${id}/revoke`)
    assert.equal(await program.closed, 4001)
  })
})

describe('events', () => {
  test('the life of an agent, event by event, with the fields of each', async () => {
    const live = await openWithTicket()
    await live.next('connected')
    await createAgent(platform, 'so-life')
    const created = await live.next('agent_created')
    assert.deepEqual([created.agent_name, created.event], ['so-life', 'agent_created'])
    const data = { name: 'string', type: 'string', status: 'string', port: 'number', created: 'string' }
    assertShape(created.data, { ...data, resources: 'object' }, 'agent_created.data')

    const put = (path: string, body: object) => platform.request('PUT', `/api/agents/so-life/${path}`, body)
    assert.equal((await put('label', { label: 'Life' })).status, 200)
    assert.equal((await live.next('agent_label_changed')).label, 'Life')
    await put('tags', { tags: ['calm'] })
    assert.equal((await live.next('agent_tags_changed')).agent_name, 'so-life')
    await put('timeout', { execution_timeout_seconds: 600 })
    assert.equal(typeof (await live.next('agent_settings_changed')).setting, 'string')

    await platform.request('POST', '/api/agents/so-life/stop')
    assert.deepEqual((await live.next('agent_stopped')).data, { name: 'so-life' })
    const { port } = (await platform.request('POST', '/api/agents/so-life/start')).json
    const started = await live.next('agent_started')
    const facts = { credentials_injection: 'nothing_to_inject', recreated: false, port }
    assert.deepEqual(started.data, { name: 'so-life', ...facts })
    assert.deepEqual({ ...started, ...facts }, started)

    await docker('kill', 'agent-so-life')
    const exited = await live.next('agent_exited')
    assertShape(exited, { exit_code: 'number', oom_killed: 'boolean', event: 'string' }, 'agent_exited')
    await live.next('agent_started')

    await put('rename', { new_name: 'so-long' })
    const renamed = await live.next('agent_renamed')
    assert.deepEqual(
      [renamed.agent_name, renamed.old_name, renamed.new_name, renamed.data],
      ['so-long', 'so-life', 'so-long', { name: 'so-long', old_name: 'so-life', new_name: 'so-long' }],
    )
    await platform.request('DELETE', '/api/agents/so-long')
    assert.deepEqual((await live.next('agent_deleted')).data, { name: 'so-long' })
    const ids = live.messages.map(({ _eid }) => _eid).filter(Boolean)
    assert.deepEqual(ids, ids.toSorted())
    live.end()
  })

  test('a turn: its record, the activity of the agent, and that the response is ready', async () => {
    await createAgent(platform, 'so-turn')
    const agent = open(`/ws/events?token=${await agentKeyOf('so-turn')}`)
    assert.deepEqual((await agent.next('connected')).accessible_agents, ['so-turn'])
    const live = await openWithTicket()
    await live.next('connected')
    const reply = await chat(platform, 'so-turn', '[[tool:Bash:echo hi]] [[reply:done]]')
    const id = reply.json.execution.id
    const isOwn = (message: Loose) => message.execution_id === id
    const ready = await live.next('chat_response_ready', isOwn)
    assertShape(ready, { execution_id: 'string', session_id: 'string', status: 'string' }, 'ready')
    const turnMessages = live.messages.filter(isOwn)
    const oneEvent = (type: string, accept: (message: Loose) => boolean = () => true) =>
      turnMessages.find((message) => message.type === type && accept(message)) ?? assert.fail(`no ${type}`)
    const created = oneEvent('execution_created')
    assertShape(created, { status: 'string', triggered_by: 'string', agent_name: 'string' }, 'created')
    assert.deepEqual([created.status, created.triggered_by], ['queued', 'chat'])
    assert.match(created.message_preview, /tool:Bash/)
    assert.equal(oneEvent('execution_started').status, 'running')
    const isTool = ({ activity_type }: Loose) => activity_type === 'tool'
    assertShape(oneEvent('agent_activity', isTool), { tool: 'string', action: 'string' }, 'tool')
    const states = turnMessages.filter(({ activity_type }) => activity_type === 'chat')
    assert.deepEqual(
      states.map(({ activity_state }) => activity_state),
      ['started', 'completed'],
    )
    const finished = oneEvent('execution_finished')
    assert.equal(finished.status, 'success')
    assertShape(finished, { triggered_by: 'string', duration_ms: 'number', cost: 'number?' }, 'finished')
    await agent.next('execution_finished', isOwn)

    const isReady = ({ type }: Loose) => type === 'chat_response_ready'
    assert.ok(!agent.messages.some(isReady), "the person's alone")
    for (const message of agent.messages.filter(isOwn)) {
      assert.equal(message.message_preview, undefined, 'a private conversation')
    }
    await createAgent(platform, 'so-other')
    await platform.request('POST', '/api/agents/so-turn/stop')
    await agent.next('agent_stopped')
    assert.ok(!agent.messages.some(({ agent_name }) => agent_name === 'so-other'))
    live.end()
    await platform.request('DELETE', '/api/agents/so-turn')
    assert.equal(await agent.closed, 4001)
  })
})

test('across a kill of the platform no event is missed or repeated', async () => {
  await createAgent(platform, 'so-kill')
  const live = await openWithTicket()
  await live.next('connected')
  const setLabel = (label: string) => platform.request('PUT', '/api/agents/so-kill/label', { label })
  await setLabel('one')
  const last = (await live.next('agent_label_changed'))._eid
  await setLabel('two')
  await platform.killApi()
  assert.equal(await live.closed, 1006)
  await platform.startApi()
  platform.token = await signIn(platform)
  await setLabel('three')
  const resumed = await openWithTicket(`&last_event_id=${last}`)
  assert.equal((await resumed.next('connected'))._eid, last)
  await setLabel('four')
  await resumed.next('agent_label_changed', ({ label }) => label === 'four')
  const labels = resumed.messages
    .filter(({ type }) => type === 'agent_label_changed')
    .map(({ label }) => label)
  assert.deepEqual(labels, ['two', 'three', 'four'])
  resumed.end()

  const unknownId = await openWithTicket('&last_event_id=9999999999999999')
  assert.equal((await unknownId.next('resync_required')).reason, 'invalid_last_event_id')
  unknownId.end()
})
