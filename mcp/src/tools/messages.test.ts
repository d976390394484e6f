import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, startWorld } from '../test/world.ts'

const stored = {
  id: 'r1',
  agent_name: 'scout',
  report_type: 'sales.weekly',
  title: 'Week 3',
  display_hint: null,
  period_start: null,
  period_end: null,
  audience: 'operator',
  execution_id: null,
  payload_bytes: 12,
  created_at: '2030-01-01T00:00:00.000Z',
}
const payload = { rows: [1, 2] }

test('an agent reports and notifies as itself and does not get its payload back; people are refused', async () => {
  await using world = await startWorld()
  world.routes.set('POST /api/agents/scout/reports', () => ({ status: 201, body: { ...stored, payload } }))
  world.routes.set('POST /api/notifications', ({ body }) => ({
    status: 201,
    body: { id: 'n1', status: 'pending', ...body },
  }))
  const agent = await world.connect(world.key('agent', 'scout'))
  const input = { report_type: 'sales.weekly', title: 'Week 3', payload }
  assert.deepEqual(await call(agent, 'report', input), { ...stored, isError: false })
  const words = { notification_type: 'completion', title: 'Done' }
  assert.equal((await call(agent, 'send_notification', words)).status, 'pending')
  const sent = world.requests.filter(({ method, path }) => method === 'POST' && /reports|notif/.test(path))
  assert.deepEqual(
    sent.map(({ body }) => body),
    [input, words],
  )
  const person = await world.connect(world.key('user'))
  for (const [name, body] of [
    ['report', input],
    ['send_notification', words],
  ] as const)
    assert.equal((await call(person, name, body)).error, 'agent_identity_required')
})

test('a report of 5 MiB is accepted', async () => {
  await using world = await startWorld()
  const large = 'x'.repeat(5 * 1024 * 1024 - 2)
  world.routes.set('POST /api/agents/scout/reports', ({ body }) => ({
    status: 201,
    body: { ...stored, payload_bytes: body.payload.length, payload: body.payload },
  }))
  const agent = await world.connect(world.key('agent', 'scout'), 'modern')
  const input = { report_type: 'dump', title: 'All of it', payload: large }
  assert.equal((await call(agent, 'report', input)).payload_bytes, large.length)
})

test('all keys list reports and read one in full; an inaccessible report looks like an unknown one', async () => {
  await using world = await startWorld()
  world.routes.set('GET /api/reports', () => ({ body: [stored] }))
  world.routes.set('GET /api/reports/r1', () => ({ body: { ...stored, payload } }))
  const client = await world.connect(world.key('user'))
  assert.equal((await call(client, 'list_reports', { agent_name: 'scout', limit: 5 })).count, 1)
  const query = world.requests.find(({ path }) => path.startsWith('/api/reports?'))?.path.split('?')[1]
  assert.deepEqual(Object.fromEntries(new URLSearchParams(query)), { agent_name: 'scout', limit: '5' })
  assert.deepEqual((await call(client, 'get_report', { report_id: 'r1' })).payload, payload)
  const hidden = await call(client, 'get_report', { report_id: 'r2' })
  assert.deepEqual([hidden.error, hidden.isError], ['not found or not accessible', true])
})
