import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, startWorld } from '../test/world.ts'

const started = { status: 'ringing', call_id: 'c1', execution_id: 'e1', to_number: '+15550123' }

test('an agent calls as itself, and a retried request is one call; people are refused', async () => {
  await using world = await startWorld()
  world.routes.set('POST /api/agents/scout/voip/call', () => ({ body: started }))
  const agent = await world.connect(world.key('agent', 'scout'))
  const request = { to_number: '+15550123', context: 'The order is late.', dedup_label: 'order-7' }
  assert.deepEqual(await call(agent, 'call_user', request), { ...started, isError: false })
  const [sent] = world.requests.filter(({ path }) => path.endsWith('/voip/call'))
  assert.deepEqual(sent?.body, request)
  assert.ok(sent?.headers['idempotency-key'])
  const person = await world.connect(world.key('user'))
  assert.equal((await call(person, 'call_user', request)).error, 'agent_identity_required')
})

test('disabled calls and a label in use are explained', async () => {
  await using world = await startWorld()
  const agent = await world.connect(world.key('agent', 'scout'))
  for (const [status, error] of [
    [404, 'feature_disabled'],
    [409, 'already_exists'],
  ] as const) {
    world.routes.set('POST /api/agents/scout/voip/call', () => ({ status, body: { detail: 'No.', error } }))
    const result = await call(agent, 'call_user', { to_number: '+15550123' })
    assert.deepEqual([result.error, result.isError], [error, true])
  }
})
