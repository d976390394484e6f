import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Agent } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { createFakeHost } from '../../ports/host/fake.ts'
import { createTestClock } from '../../test/clock.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { telemetryRoutes } from './routes.ts'
import { createTelemetry } from './telemetry.ts'

const fenced = (scope: 'ops' | 'connector'): SignedIn => ({
  kind: 'key',
  user: person({ id: 'root', role: 'admin' }).user,
  key: { id: scope, name: scope, scope, agent_id: scope === 'connector' ? 'a1' : null },
})
const callers: Record<string, SignedIn> = {
  ann: person({ id: 'ann' }),
  eve: person({ id: 'eve' }),
  ops: fenced('ops'),
  connector: fenced('connector'),
}
const reaches: Record<string, string[]> = { ann: ['scout', 'asleep'], eve: [], root: ['scout', 'rover'] }

function start() {
  const clock = createTestClock()
  const host = createFakeHost()
  const telemetry = createTelemetry({
    clock,
    host,
    agentAccess: {
      accessibleAgents: async (caller) =>
        (caller.kind === 'anonymous' ? [] : (reaches[caller.user.id] ?? [])).map((name) => ({
          // Only name and status are read.
          agent: { name, status: name === 'asleep' ? 'stopped' : 'running' } as Agent,
          relation: 'owner' as const,
        })),
    },
    health: {
      stats: ({ name, status }) => ({
        agent_name: name,
        status,
        cpu_percent: 20,
        memory_used_bytes: 1024 ** 2,
        memory_limit_bytes: null,
        memory_percent: null,
        network_rx_bytes: null,
        network_tx_bytes: null,
        uptime_seconds: 1,
        age_seconds: 2,
        source: 'engine' as const,
      }),
    },
  })
  const app = routesApp(
    telemetryRoutes(telemetry),
    Object.fromEntries(Object.entries(callers).map(([name, caller]) => [name, { caller, relation: null }])),
  )
  const get = async (who: string, path: string) => {
    const reply = await app.inject({ url: `/api/telemetry/${path}`, headers: as(who) })
    return { status: reply.statusCode, json: reply.json() }
  }
  return { clock, host, telemetry, get }
}

test('reads of the machine return the newest sample', async () => {
  const { clock, host, telemetry, get } = start()
  assert.equal((await get('ann', 'host')).json.cpu.percent, 25)
  for (let times = 0; times < 5; times += 1) await get('ann', 'host')
  assert.equal(host.reads(), 1)
  host.set({ cpuBusyMs: 4_000, cpuTotalMs: 8_000 })
  await clock.advance(10)
  await telemetry.loops[0]?.run(new AbortController().signal)
  const { json } = await get('ann', 'host')
  assert.deepEqual([json.cpu.percent, json.timestamp], [75, '2026-01-05T08:00:10.000Z'])
  assert.equal(host.reads(), 2)
})

test('each caller sees the running containers of accessible agents', async () => {
  const { get } = start()
  const table: [who: string, expected: string[]][] = [
    ['ann', ['scout']],
    ['eve', []],
    ['ops', ['rover', 'scout']],
  ]
  for (const [who, expected] of table) {
    const { json } = await get(who, 'containers')
    assert.deepEqual(
      json.containers.map(({ name }: { name: string }) => name),
      expected,
      who,
    )
    assert.deepEqual([json.running_count, json.total_cpu_percent], [expected.length, 20 * expected.length])
  }
})

test('403 for a key without access, for the machine too', async () => {
  const { get } = start()
  for (const path of ['host', 'containers']) {
    assert.equal((await get('connector', path)).json.error, 'scope_not_allowed')
    assert.equal((await get('ops', path)).status, 200)
  }
})
