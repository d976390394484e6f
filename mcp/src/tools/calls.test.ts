import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, startWorld } from '../test/world.ts'

const started = { status: 'ringing', call_id: 'c1', execution_id: 'e1', to_number: '+15550123' }

test('an agent calls as itself, under a key that makes a repeated request one call; people are refused', async () => {
  await using world = await startWorld()
  world.routes.set('POST /api/agents/scout/voip/call', () => ({ body: started }))
  const agent = await world.connect(world.key('agent', 'scout'))
  const asked = { to_number: '+15550123', context: 'The order is late.', dedup_label: 'order-7' }
  assert.deepEqual(await call(agent, 'call_user', asked), { ...started, isError: false })
  const [sent] = world.asked.filter(({ path }) => path.endsWith('/voip/call'))
  assert.deepEqual(sent?.body, asked)
  assert.ok(sent?.headers['idempotency-key'])
  const person = await world.connect(world.key('user'))
  assert.equal((await call(person, 'call_user', asked)).error, 'agent_identity_required')
})

test('a platform without calls, and a label that is taken, are told in words', async () => {
  await using world = await startWorld()
  const agent = await world.connect(world.key('agent', 'scout'))
  for (const [status, error] of [
    [404, 'feature_disabled'],
    [409, 'already_exists'],
  ] as const) {
    world.routes.set('POST /api/agents/scout/voip/call', () => ({ status, body: { detail: 'No.', error } }))
    const told = await call(agent, 'call_user', { to_number: '+15550123' })
    assert.deepEqual([told.error, told.isError], [error, true])
  }
})
