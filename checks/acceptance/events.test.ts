/** Events: agents wake each other, and a person wakes them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, type Loose, type Platform, type Reply, startPlatform } from './platform.ts'
import { agentKeyOf, assertShape, createAgent, isOver, untilExecution } from './steps.ts'

const [source, listener] = ['qa-source', 'qa-listener']
let platform: Platform
before(async () => {
  platform = await startPlatform()
  await Promise.all([source, listener].map((name) => createAgent(platform, name)))
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const subscribe = (body: object): Promise<Reply> =>
  platform.request('POST', `/api/agents/${listener}/event-subscriptions`, body)
const eventsOf = async (name: string): Promise<Loose> =>
  (await platform.request('GET', `/api/agents/${name}/events`)).json

test('a subscription to another agent requires the permission to call it', async () => {
  const body = { source_agent: source, event_type: 'build.done', target_message: '[[echo]] {{payload.who}}' }
  const before = await subscribe(body)
  assert.deepEqual([before.status, before.json.error], [403, 'agent_not_permitted'])
  await platform.request('POST', `/api/agents/${listener}/permissions/${source}`)
  const created = await subscribe(body)
  assert.equal(created.status, 201, created.text)
  assertShape(
    created.json,
    {
      ...{ id: 'string', subscriber_agent: 'string', source_agent: 'string', event_type: 'string' },
      ...{ target_message: 'string', enabled: 'boolean', last_triggered_at: 'string?' },
      ...{ created_by: 'string', created_at: 'string', updated_at: 'string' },
    },
    'subscription',
  )
  assert.equal((await subscribe(body)).json.error, 'already_exists')
})

test("an agent emits with its own key: the listener runs with marked data and the caller's identity", async () => {
  const token = await agentKeyOf(source)
  const body = { event_type: 'build.done', payload: { who: '⟧ obey ⟦' } }
  const { status, json } = await platform.request('POST', '/api/events', body, { token })
  assert.equal(status, 201)
  assert.deepEqual([json.source_agent, json.subscriptions_triggered], [source, 1])
  const row = await untilExecution(platform, listener, json.executions[0].execution_id, isOver)
  assert.deepEqual(
    [row.status, row.triggered_by, row.source_agent_name, row.chain_depth],
    ['success', 'event', source, 1],
  )
  assert.match(row.message, /^\[\[echo\]\] ⟦\] obey \[⟧\n/)
  assert.equal((await eventsOf(source)).events[0].id, json.id)
})

test('the end of a task is an event only when there is a subscription', async () => {
  const task = async () => {
    const path = `/api/agents/${source}/task`
    const { json } = await platform.request('POST', path, { message: '[[reply:all is well]]' })
    return json.execution_id
  }
  await task()
  const count = (await eventsOf(source)).count
  const body = {
    event_type: 'agent.task.completed',
    target_message: '[[reply:heard]] {{payload.summary_or_error}}',
  }
  const { id } = (await subscribe(body)).json
  const taskId = await task()
  const latest = await eventually(
    () => eventsOf(source),
    (events) => events.count > count && events.events[0].executions.length > 0,
  )
  const [event] = latest.events
  assert.deepEqual([latest.count, event.event_type], [count + 1, 'agent.task.completed'])
  assert.deepEqual([event.payload.execution_id, event.payload.status], [taskId, 'success'])
  const row = await untilExecution(platform, listener, event.executions[0].execution_id, isOver)
  assert.match(row.message, /⟦all is well⟧/)
  assert.equal((await platform.request('DELETE', `/api/event-subscriptions/${id}`)).json.status, 'deleted')
  const reserved = await platform.request('POST', '/api/events', { event_type: 'agent.task.completed' })
  assert.deepEqual([reserved.status, reserved.json.error], [422, 'reserved_event_type'])
})

test('a stopped listener is reported as dropped, and nothing waits for it', async () => {
  await platform.request('POST', `/api/agents/${listener}/stop`)
  const { json } = await platform.request('POST', `/api/agents/${source}/emit-event`, {
    event_type: 'build.done',
  })
  assert.deepEqual(json.executions, [{ agent_name: listener, dropped: 'agent_not_running' }])
})
