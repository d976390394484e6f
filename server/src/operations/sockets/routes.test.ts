import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimits } from '../../foundation/rate-limits/index.ts'
import { isFault } from '../../kit/fault.ts'
import { memoryEphemeral } from '../../ports/ephemeral/memory.ts'
import { EphemeralDown } from '../../ports/ephemeral/port.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { as, type Callers, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { socketTicketRoutes } from './routes.ts'
import { createTickets } from './tickets.ts'

const key = (scope: 'user' | 'agent' | 'system' | 'connector' | 'ops') =>
  ({ kind: 'key', user: person().user, key: { id: `k-${scope}`, name: 'k', scope, agent_id: 'a1' } }) as const
const callers: Callers = {
  ann: { caller: person(), relation: null },
  user: { caller: key('user'), relation: null },
  system: { caller: key('system'), relation: null },
  agent: { caller: key('agent'), relation: null },
  connector: { caller: key('connector'), relation: null },
  ops: { caller: key('ops'), relation: null },
}

function start(ephemeral = memoryEphemeral({ clock: createTestClock(), log: silentLog })) {
  const tickets = createTickets({
    ephemeral,
    limits: createRateLimits({ ephemeral, clock: createTestClock() }),
  })
  const app = routesApp(socketTicketRoutes(tickets), callers)
  const mint = async (who: string) => {
    const reply = await app.inject({ method: 'POST', url: '/api/ws/ticket', headers: as(who) })
    return { status: reply.statusCode, json: reply.json(), headers: reply.headers }
  }
  return { tickets, mint }
}

test('a ticket is valid once, for the credential that created it', async () => {
  const { tickets, mint } = start()
  for (const [who, credential] of [
    ['ann', { session: 'j' }],
    ['user', { key: 'k-user' }],
    ['system', { key: 'k-system' }],
  ] as const) {
    const { status, json } = await mint(who)
    assert.equal(status, 200)
    assert.equal(json.expires_in, 30)
    assert.deepEqual(await tickets.redeem(json.ticket), credential)
    assert.equal(await tickets.redeem(json.ticket), null)
  }
})

test('401 without a credential, 403 for keys with less access than their owner', async () => {
  const { mint } = start()
  assert.equal((await mint('nobody')).json.error, 'not_authenticated')
  assert.equal((await mint('agent')).json.error, 'person_required')
  for (const who of ['connector', 'ops']) assert.equal((await mint(who)).json.error, 'scope_not_allowed')
})

test('429 above 300 a minute per person', async () => {
  const { mint } = start()
  for (let i = 0; i < 300; i++) assert.equal((await mint('ann')).status, 200)
  const refused = await mint('ann')
  assert.equal(refused.json.error, 'rate_limited')
  assert.ok(Number(refused.headers['retry-after']) <= 60)
})

test('503 ephemeral_unavailable while the store is down', async () => {
  const down = async () => {
    throw new EphemeralDown()
  }
  const ephemeral = memoryEphemeral({ clock: createTestClock(), log: silentLog })
  const { tickets, mint } = start({ ...ephemeral, count: down, put: down, take: down })
  const { status, json } = await mint('ann')
  assert.deepEqual([status, json.error], [503, 'ephemeral_unavailable'])
  await assert.rejects(tickets.redeem('x'.repeat(43)), (error) => isFault(error, 'ephemeral_unavailable'))
})

test('the store contains hashes of tickets only', async () => {
  const ephemeral = memoryEphemeral({ clock: createTestClock(), log: silentLog })
  const stored: string[] = []
  const { mint } = start({
    ...ephemeral,
    put: async (name, value) => void stored.push(name, value),
  })
  const { ticket } = (await mint('ann')).json
  assert.equal(stored.length, 2)
  assert.ok(!stored.join().includes(ticket))
})
