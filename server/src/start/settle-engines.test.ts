import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { agentStore } from '../agents/records/index.ts'
import { createShared, openAgents } from '../agents/test/world.ts'
import { createReplicas } from '../foundation/replicas/index.ts'
import { markRestored } from '../operations/backup/restored.ts'
import { createTestAlerts } from '../test/alerts.ts'
import { forEachDialect, type OpenTestDb } from '../test/dialects.ts'
import { settleEngines } from './settle-engines.ts'

forEachDialect((_dialect, open) => {
  test('an engine is not adopted while a live replica uses it, and is after the replica went silent', async () => {
    await using t = await openWorld(open)
    await t.replicas.report({ ...replica, engine_id: 'lost' })
    await t.settle('lost')
    assert.equal(await t.engineOf('scout'), 'lost')
    assert.match(t.messages.join(), /no effect: a live replica uses the engine/)
    await t.world.clock.advance(15)
    await t.settle('lost')
    assert.equal(await t.engineOf('scout'), 'own')
  })

  test('a variable that stays set takes over once, until a start without it', async () => {
    await using t = await openWorld(open)
    await t.settle('lost')
    assert.equal(await t.engineOf('scout'), 'own')
    await t.moveBack('scout')
    await t.settle('lost')
    assert.equal(await t.engineOf('scout'), 'lost')
    assert.match(t.messages.at(-1) ?? '', /has had its effect: remove it/)
    await t.settle(null)
    await t.settle('lost')
    assert.equal(await t.engineOf('scout'), 'own')
  })

  test('leftovers of an adopted engine stay recorded for it', async () => {
    await using t = await openWorld(open)
    const leftover = { id: 'l', agent_id: 'gone', container_id: 'c', engine_id: 'lost', volumes: ['v'] }
    await agentStore(t.world.db).addLeftover(leftover, '2030-01-01T00:00:00.000Z')
    await t.settle('lost')
    assert.deepEqual(await agentStore(t.world.db).leftovers(), [leftover])
  })

  test('an identity that all engines behind an earlier filter had is forgotten, and the agent continues here', async () => {
    await using t = await openWorld(open)
    const constant = 'podman:undefined:undefined'
    const leftover = { id: 'l', agent_id: 'gone', container_id: 'c', engine_id: constant, volumes: ['v'] }
    await agentStore(t.world.db).addLeftover(leftover, '2030-01-01T00:00:00.000Z')
    await t.settle(null)
    assert.equal(await t.engineOf('scout'), 'lost', 'other engines stay recorded')
    await t.moveBack('scout', constant)
    await t.settle(null)
    assert.equal(await t.engineOf('scout'), null)
    assert.equal((await agentStore(t.world.db).leftovers())[0]?.engine_id, null)
    t.world.area.agentRecords.markStale([(await t.world.row('scout')).id])
    await t.world.area.lifecycle.repair()
    assert.equal(await t.engineOf('scout'), 'own')
    assert.equal((await t.world.request(t.owner.key, 'POST', '/api/agents/scout/stop')).status, 200)
  })

  test('unknown adopts agents without an engine, and no others', async () => {
    await using t = await openWorld(open)
    await t.settle('unknown')
    assert.equal(await t.engineOf('scout'), 'lost')
    await markRestored(t.folder)
    await t.settle(null)
    assert.equal(await t.engineOf('scout'), null)
    await t.settle('unknown')
    assert.equal(await t.engineOf('scout'), 'own')
  })

  test('nothing is adopted, and the next start does it, while the own engine does not answer', async () => {
    await using t = await openWorld(open)
    t.world.engine.refuse(true)
    await t.settle('lost')
    assert.equal(await t.engineOf('scout'), 'lost')
    t.world.engine.refuse(false)
    await t.settle('lost')
    assert.equal(await t.engineOf('scout'), 'own')
  })
})

const replica = {
  ...{ id: 'r', role: 'api' as const, host_name: 'host-lost', process_id: 1, version: '1.0.0' },
  ...{ git_commit: null, schema_version: null, agent_address: null, started_at: '2030-01-01T00:00:00.000Z' },
}

/** The agent scout on an engine `lost`, and a process with the engine `own`. */
async function openWorld(open: OpenTestDb) {
  const world = await openAgents(await open(), { shared: createShared({ engineId: 'own' }) })
  const folder = await mkdtemp(join(tmpdir(), 'roost-settle-'))
  const { db, clock, containers } = world
  const owner = await world.person()
  const created = await world.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
  assert.equal(created.status, 200)
  const moveBack = async (name: string, engine = 'lost') => {
    await agentStore(db).update((await world.row(name)).id, { engine_id: engine })
  }
  await moveBack('scout')
  const messages: string[] = []
  const note = (_fields: object, message: string) => void messages.push(message)
  const log = { error: note, warn: note }
  const leases = { held: async () => [] }
  return {
    ...{ world, owner, folder, messages, moveBack },
    replicas: createReplicas({ db, clock, leases, alerts: createTestAlerts().alerts, replicaId: 'own' }),
    settle: (adoptEngine: string | null) =>
      settleEngines({ dataDir: folder, adoptEngine }, { db, clock, containers, log }),
    engineOf: async (name: string) => (await world.row(name)).engine_id,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
