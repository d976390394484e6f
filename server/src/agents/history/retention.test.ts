import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestAlerts } from '../../test/alerts.ts'
import { createTestClock } from '../../test/clock.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { insertRunRecords } from '../../test/history.ts'
import { openAgents } from '../test/world.ts'
import { historyAlert, historyGoal, isAbove, keptPathsOf, roomOf, storeName } from './rules.ts'
import { historyStore } from './store.ts'
import type { RecordRow } from './tables.ts'
import { linkWorkspace } from './test/linked-workspace.ts'
import { createUsageMeter } from './usage.ts'

const size = 100_000

async function openWorld(historyQuota: number, historyTotalQuota = 0) {
  const { alerts, raised, cleared } = createTestAlerts()
  const world = await openAgents(await openTestDatabase(), { historyQuota, historyTotalQuota, alerts })
  const { key, id: userId } = await world.person('admin')
  await world.request(key, 'POST', '/api/agents', { name: 'ada' })
  const { id } = await world.row('ada')
  const workspace = linkWorkspace(world.link, id)
  const store = historyStore(world.db)
  const { history } = world.area
  return {
    ...{ world, key, userId, id, workspace, store, history, raised, cleared },
    /** Records a workspace with one new incompressible file. */
    async record(reason: 'after_run' | 'demand' = 'after_run') {
      writeFileSync(join(workspace.home, 'file'), randomBytes(size))
      workspace.wrote()
      world.clock.set(new Date(world.clock.now().getTime() + 60_000))
      return (await history.make(id, { reason: () => reason })).record
    },
    /** Two pinned records, and half a one in the workspace. */
    async fillWithPinned() {
      for (let count = 0; count < 2; count += 1) await store.pin(id, (await this.record()).id, userId)
      rmSync(join(workspace.home, 'file'))
      writeFileSync(join(workspace.home, 'other'), randomBytes(size / 2))
      workspace.wrote()
    },
    loop: (name: string) =>
      history.loops.find((each) => each.name === name)?.run(new AbortController().signal) ??
      assert.fail(name),
    numbers: async () =>
      (await store.list(id, { before: null, limit: 100 })).map(({ number }) => number).reverse(),
    async [Symbol.asyncDispose]() {
      await workspace[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

test('rules: shares of a quota, and none without one', () => {
  assert.equal(isAbove({ used_bytes: 80, quota_bytes: 100 }, 0.8), true)
  assert.equal(isAbove({ used_bytes: 79, quota_bytes: 100 }, 0.8), false)
  assert.equal(isAbove({ used_bytes: 1e12, quota_bytes: 0 }, 0.8), false)
  assert.deepEqual(
    [roomOf({ used_bytes: 120, quota_bytes: 100 }), roomOf({ used_bytes: 20, quota_bytes: 100 })],
    [0, 80],
  )
  assert.deepEqual(
    [0, 74, 80, 100, 120].map((lasting) => historyGoal(lasting, 100)),
    [75, 75, 90, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  )
  assert.match(historyAlert(null, { used_bytes: 1, quota_bytes: 1 }).title, /all agents/)
})

test('the oldest records make room, and pinned ones stay', async () => {
  await using t = await openWorld(10 * size)
  const pinned = await t.record()
  await t.store.pin(t.id, pinned.id, t.userId)
  for (let count = 0; count < 8; count += 1) await t.record()
  await t.loop('agents.history-quota')
  const left = await t.numbers()
  assert.equal(left[0], 1, 'the pinned one')
  assert.equal(left.at(-1), 9, 'the latest one')
  assert.ok(left.length >= 6, `no more than needed was removed: ${left}`)
  assert.deepEqual(
    (await t.world.history.records()).length,
    left.length,
    'the store has the same records as the table',
  )
  assert.ok((await t.world.history.usedBytes(storeName(t.id))) < 8 * size)
  assert.deepEqual(t.raised, [])
})

test('when nothing can be removed, an alert is raised before the quota is full, and cleared later', async () => {
  await using t = await openWorld(3 * size)
  await t.fillWithPinned()
  await t.history.make(t.id, { reason: () => 'after_run' })
  await t.loop('agents.history-quota')
  assert.deepEqual(
    t.raised.map(({ kind, agentId }) => [kind, agentId]),
    [['history_quota', t.id]],
  )
  await assert.rejects(t.record(), { name: 'HistoryFull' })
  for (const { id } of await t.store.list(t.id, { before: null, limit: 10 }))
    await t.store.pin(t.id, id, null)
  await t.loop('agents.history-quota')
  assert.ok(t.cleared.some(({ agentId, kind }) => agentId === t.id && kind === 'history_quota'))
  assert.equal((await t.record()).number, 4)
})

test('pinned records of one agent leave room for the history of others', async () => {
  await using t = await openWorld(0, 20 * size)
  await t.world.request(t.key, 'POST', '/api/agents', { name: 'bob' })
  const bob = await t.world.row('bob')
  await using workspace = linkWorkspace(t.world.link, bob.id)
  async function recordBob(): Promise<void> {
    writeFileSync(join(workspace.home, 'file'), randomBytes(size / 2))
    workspace.wrote()
    await t.history.make(bob.id, { reason: () => 'after_run' })
  }
  const countBob = async () => (await t.store.list(bob.id, { before: null, limit: 100 })).length
  for (let count = 0; count < 16; count += 1) await t.store.pin(t.id, (await t.record()).id, t.userId)
  for (let count = 0; count < 3; count += 1) await recordBob()
  await t.loop('agents.history-quota')
  assert.equal(await countBob(), 3, 'nothing is removed for pinned records')
  assert.deepEqual(
    t.raised.map(({ kind, agentId }) => [kind, agentId]),
    [['history_quota', null]],
  )
  for (let count = 0; count < 4; count += 1) await recordBob()
  await t.loop('agents.history-quota')
  const left = await countBob()
  assert.ok(left >= 3 && left < 7, `${left} records`)
  assert.ok((await t.world.history.size()) < 19 * size)
})

test('without pinned records, the oldest of all agents are removed', async () => {
  await using t = await openWorld(0, 10 * size)
  for (let count = 0; count < 9; count += 1) await t.record()
  await t.loop('agents.history-quota')
  const left = await t.numbers()
  assert.equal(left.at(-1), 9)
  assert.ok(left.length >= 6 && left.length <= 7, `${left}`)
  assert.ok((await t.world.history.size()) < 7.6 * size)
})

test('the collection frees what deleted agents and killed processes left', async () => {
  await using t = await openWorld(0)
  await t.record()
  const before = await t.world.history.size()
  await using draft = await t.world.history.open({ agent: storeName(t.id), base: null, maxBytes: 1e9 })
  await draft.commit('orphan')
  await t.loop('agents.history-collect')
  assert.equal((await t.world.history.records()).length, 2, 'its row may still come')
  await t.loop('agents.history-collect')
  assert.equal((await t.world.history.records()).length, 1)
  await t.world.request(t.key, 'DELETE', '/api/agents/ada')
  await t.loop('agents.history-collect')
  assert.deepEqual(await t.world.history.records(), [])
  assert.ok((await t.world.history.size()) < before - size / 2)
})

test('quotas remove only records of the own store; retention removes the row, and each store its content', async () => {
  await using t = await openWorld(5 * size)
  const own = await t.record()
  // As if another machine had recorded the agent first.
  const elsewhere = { ...own, id: 'elsewhere', created_at: '2020-01-01T00:00:00.000Z' }
  await t.store.insert(elsewhere)
  for (let count = 0; count < 3; count += 1) await t.record()
  await t.loop('agents.history-quota')
  assert.equal(await t.store.record(t.id, own.id), null, 'the oldest one of this store was removed')
  assert.notEqual(await t.store.record(t.id, 'elsewhere'), null)

  const [oldest] = await t.store.removable({ agentId: t.id, before: '2021-01-01T00:00:00.000Z' })
  assert.equal(oldest?.id, 'elsewhere')
  // Another machine has removed the row of a record whose content is here.
  const latest = await t.store.latest(t.id)
  const removed = (await t.store.removable({})).find(({ id }) => id !== 'elsewhere' && id !== latest?.id)
  assert.ok(removed)
  await t.store.remove([removed.id])
  const stored = async () => (await t.world.history.records()).map(({ record }) => record)
  assert.ok((await stored()).includes(removed.id))
  await t.loop('agents.history-collect')
  await t.loop('agents.history-collect')
  assert.ok(!(await stored()).includes(removed.id))
})

test('a record that does not fit removes old ones, but not if it never fits', async () => {
  await using t = await openWorld(4 * size)
  for (let count = 0; count < 3; count += 1) await t.record()
  const record = async (bytes: number) => {
    writeFileSync(join(t.workspace.home, 'file'), randomBytes(bytes))
    t.workspace.wrote()
    return t.history.make(t.id, { reason: () => 'after_run' })
  }
  await record(1.5 * size)
  assert.deepEqual(await t.numbers(), [2, 3, 4])
  await assert.rejects(record(3 * size), { name: 'HistoryFull' })
  assert.deepEqual(await t.numbers(), [2, 3, 4])
})

test('an alert says that the last run was not recorded for lack of room, until one is', async () => {
  await using t = await openWorld(100 * size)
  const { id } = await t.record()
  const run = { agent_id: t.id, before_id: id, outcome: 'failed' as const, reason: 'quota_full' as const }
  await insertRunRecords(t.world.db, { ...run, execution_id: 'one', started_at: '2026-01-01T00:00:00.000Z' })
  await t.loop('agents.history-quota')
  assert.match(t.raised[0]?.title ?? '', /^The history of "ada" has no room for the last run/)
  await insertRunRecords(t.world.db, {
    ...{ ...run, outcome: 'recorded', reason: null },
    ...{ execution_id: 'two', started_at: '2026-01-01T00:01:00.000Z' },
  })
  await t.loop('agents.history-quota')
  assert.ok(t.cleared.some(({ agentId, kind }) => agentId === t.id && kind === 'history_quota'))
})

test('a restore deletes nothing that its record may have left out', () => {
  const of = (left_out: object[], left_out_count: number) =>
    keptPathsOf({ left_out: JSON.stringify(left_out), left_out_count } as RecordRow)
  const [secret, cache] = [
    { path: 'secret', reason: 'unreadable' },
    { path: 'cache', reason: 'rule' },
  ]
  assert.deepEqual(of([secret], 1), ['secret'])
  assert.deepEqual(of([secret, cache], 5), ['secret', 'cache'], 'the rules protect the others')
  assert.deepEqual(of([secret], 2), [''])
})

test('the alert of an agent depends on the store with its latest record', async () => {
  await using t = await openWorld(3 * size)
  await t.fillWithPinned()
  const make = async () => (await t.history.make(t.id, { reason: () => 'demand' })).record
  const { number: _, ...record } = await make()
  await t.store.pin(t.id, record.id, t.userId)
  await t.store.insert({ ...record, id: 'elsewhere' })
  await t.loop('agents.history-quota')
  assert.deepEqual(t.raised, [], 'another store records the agent now')
  await make()
  await t.loop('agents.history-quota')
  assert.deepEqual(
    t.raised.map(({ agentId }) => agentId),
    [t.id],
  )
})

test('what other processes remove makes room: a full total is measured again, others after ten minutes', async () => {
  const clock = createTestClock()
  let size = 90
  let measured = 0
  const usage = createUsageMeter({
    clock,
    totalQuota: 100,
    quotaOf: async () => 0,
    history: {
      usedBytes: async () => 0,
      async size() {
        measured += 1
        return size
      },
    },
  })
  assert.equal(await usage.room('a'), 10)
  usage.received('a', 5)
  assert.equal(await usage.room('a'), 5)
  assert.equal(measured, 1)
  usage.received('a', 20)
  size = 40
  assert.equal(await usage.room('a'), 60)
  size = 30
  assert.equal(await usage.room('a'), 60)
  await clock.advance(600)
  assert.equal(await usage.room('a'), 70)
})
