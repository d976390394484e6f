import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, startWorld } from '../test/world.ts'

const offer = {
  enabled: true,
  price_usd: 0.01,
  pay_to: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  network: 'eip155:8453',
}
const set = {
  ...offer,
  agent_name: 'scout',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  description: null,
  url: 'https://roost.example/api/paid/scout/chat',
}

test('a person sets and reads the price of an agent and lists the payments; agents do not see these tools', async () => {
  await using world = await startWorld()
  world.routes.set('GET /api/agents/scout/paid', () => ({ body: set }))
  world.routes.set('PUT /api/agents/scout/paid', () => ({ body: set }))
  world.routes.set('GET /api/agents/scout/payments', () => ({ body: [] }))
  const person = await world.connect(world.key('user'))
  const done = { ...set, isError: false }
  assert.deepEqual(await call(person, 'configure_paid_chat', { agent_name: 'scout', ...offer }), done)
  assert.deepEqual(await call(person, 'get_paid_chat', { agent_name: 'scout' }), done)
  assert.equal((await call(person, 'list_payments', { agent_name: 'scout', limit: 5 })).count, 0)
  assert.deepEqual(world.requests.find(({ method }) => method === 'PUT')?.body, offer)
  assert.match(world.requests.at(-1)?.path ?? '', /payments/)
  const agent = await world.connect(world.key('agent', 'scout'))
  const { tools } = await agent.listTools()
  assert.deepEqual(
    tools.filter(({ name }) => /paid|payment/.test(name)),
    [],
  )
})
