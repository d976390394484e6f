import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { openAgents } from '../test/world.ts'
import { historyStore, maxNamedRuns } from './store.ts'
import type { RecordRow, RunRecordsRow } from './tables.ts'

const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString()

function recordOf(agent_id: string, id: string, patch: Partial<RecordRow> = {}): Omit<RecordRow, 'number'> {
  return {
    ...{ id, agent_id, reason: 'after_run', created_at: at(0), base_id: null, source_id: null },
    ...{ is_changed: 1, added: 1, changed: 2, deleted: 3, renamed: 4, received_bytes: 5_000_000_000 },
    ...{ left_out: '[]', left_out_count: 0, rules: null, pinned: 0, pinned_by: null, attempt_set_id: null },
    ...patch,
  }
}

function runOf(agent_id: string, execution_id: string, patch: Partial<RunRecordsRow> = {}): RunRecordsRow {
  return {
    ...{ execution_id, agent_id, outcome: 'recording', reason: null, before_id: null, after_id: null },
    ...{ overlapped: '[]', overlapped_count: 0, started_at: at(0), ended_at: null, by_owner: 1 },
    ...patch,
  }
}

forEachDialect((_, open) => {
  async function openWorld() {
    const world = await openAgents(await open())
    const { key, id: userId } = await world.person('admin')
    const ids = []
    for (const name of ['ada', 'bob']) {
      await world.request(key, 'POST', '/api/agents', { name })
      ids.push((await world.row(name)).id)
    }
    const [ada = '', bob = ''] = ids
    return {
      ...{ world, key, userId, ada, bob },
      store: historyStore(world.db),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  }

  test('records are numbered per agent and listed newest first', async () => {
    await using t = await openWorld()
    for (const id of ['a1', 'a2', 'a3']) await t.store.insert(recordOf(t.ada, id))
    const first = await t.store.insert(recordOf(t.bob, 'b1'))
    assert.deepEqual([first.number, first.received_bytes], [1, 5_000_000_000])
    assert.equal((await t.store.latest(t.ada))?.id, 'a3')
    const page = await t.store.list(t.ada, { before: null, limit: 2 })
    assert.deepEqual(
      page.map(({ id, number }) => [id, number]),
      [
        ['a3', 3],
        ['a2', 2],
      ],
    )
    const rest = await t.store.list(t.ada, { before: 2, limit: 2 })
    assert.deepEqual(rest, [await t.store.record(t.ada, 'a1')])
    assert.equal(rest[0]?.received_bytes, 5_000_000_000)
    assert.equal(await t.store.record(t.bob, 'a1'), null, 'a record of another agent is unknown')
    assert.deepEqual(new Set(await t.store.agents()), new Set([t.ada, t.bob]))
    assert.deepEqual(await t.store.existing(['a1', 'none']), new Set(['a1']))
  })

  test('retention keeps the latest record, pinned ones and those of open runs', async () => {
    await using t = await openWorld()
    for (const [minute, id] of ['a1', 'a2', 'a3', 'a4'].entries())
      await t.store.insert(recordOf(t.ada, id, { created_at: at(minute) }))
    await t.store.insert(recordOf(t.bob, 'b1'))
    assert.equal(await t.store.pin(t.ada, 'a1', t.userId), true)
    assert.equal(await t.store.pin(t.bob, 'a1', t.userId), false)
    assert.equal((await t.store.record(t.ada, 'a1'))?.pinned_by, t.userId)
    await t.store.beginRuns([runOf(t.ada, 'run', { before_id: 'a2' })])
    const removable = async (options = {}) =>
      (await t.store.removable({ limit: 10, ...options })).map(({ id }) => id)
    assert.deepEqual(await removable(), ['a3'])
    assert.deepEqual(await removable({ before: at(2) }), [])
    assert.deepEqual(await removable({ agentId: t.bob }), [])
    await t.store.completeRuns(['run'], { after: 'a3' })
    await t.store.pin(t.ada, 'a1', null)
    assert.deepEqual(await removable({ agentId: t.ada }), ['a1', 'a2', 'a3'])
    await t.store.pin(t.ada, 'a1', t.userId)
    assert.deepEqual(await t.store.remove(['a1', 'a2']), ['a2'], 'a record that was pinned meanwhile stays')
    const { outcome, before_id, after_id } = (await t.store.runOf('run')) ?? {}
    assert.deepEqual([outcome, before_id, after_id], ['recorded', null, 'a3'])
  })

  test('more runs than a statement may name share a record', async () => {
    await using t = await openWorld()
    await t.store.insert(recordOf(t.ada, 'a1'))
    const ids = Array.from({ length: 2500 }, (_, index) => `run-${index}`)
    await t.store.beginRuns(ids.map((id) => runOf(t.ada, id, { before_id: 'a1' })))
    await t.store.endRuns(ids, at(1))
    await t.store.completeRuns(ids, { after: 'a1' })
    assert.deepEqual(await t.store.openRuns(t.ada), [])
    const run = await t.store.runOf('run-0')
    const { named, count } = (run && (await t.store.overlapOf(run))) ?? { named: [], count: 0 }
    assert.deepEqual([named.length, named.includes('run-0'), count], [maxNamedRuns, false, 2499])
  })

  test('an earlier run whose work the record before a run lacks counts as a later one', async () => {
    await using t = await openWorld()
    for (const id of ['a1', 'a2', 'a3']) await t.store.insert(recordOf(t.ada, id))
    const since = (id: string) => runOf(t.ada, id, { before_id: 'a1', started_at: at(1) })
    await t.store.beginRuns([runOf(t.ada, 'first', { before_id: 'a1' })])
    await t.store.completeRuns(['first'], { after: 'a1' })
    await t.store.beginRuns([since('second')])
    await t.store.completeRuns(['second'], { after: 'a2' })
    assert.equal(await t.store.hasLaterRuns(since('second'), null), false, 'the first one changed nothing')
    await t.store.beginRuns([{ ...since('third'), started_at: at(2) }])
    await t.store.completeRuns(['third'], { after: 'a3' })
    assert.equal(await t.store.hasLaterRuns({ ...since('third'), started_at: at(2) }, null), true)
    // The same run again, with another start.
    await t.store.beginRuns([{ ...since('third'), before_id: 'a2' }])
    const again = await t.store.runOf('third')
    assert.deepEqual([again?.outcome, again?.before_id, again?.after_id], ['recording', 'a2', null])
  })

  test('a run is open until its record after it, and incomplete without the one before it', async () => {
    await using t = await openWorld()
    await t.store.insert(recordOf(t.ada, 'a1'))
    await t.store.beginRuns([runOf(t.ada, 'one', { before_id: 'a1' })])
    await t.store.beginRuns([runOf(t.ada, 'two', { reason: 'agent_timeout', started_at: at(1) })])
    const open = async (limit?: number) =>
      (await t.store.openRuns(t.ada, limit)).map(({ execution_id }) => execution_id)
    const overlap = async (id: string) => {
      const run = await t.store.runOf(id)
      return run && t.store.overlapOf(run)
    }
    assert.deepEqual(await overlap('one'), { named: ['two'], count: 1 })
    for (const minute of [2, 3]) await t.store.endRuns(['one'], at(minute))
    assert.deepEqual([await open(), await open(1)], [['two', 'one'], ['two']], 'running ones come first')
    assert.equal((await t.store.sharedBefore(t.ada, ['two']))?.before_id, 'a1')
    assert.equal(await t.store.sharedBefore(t.ada, ['one', 'two']), null)
    await t.store.completeRuns(['one', 'two'], { after: 'a1' })
    const rows = await t.store.runsOf(['one', 'two', 'none'])
    assert.deepEqual(
      rows
        .map(({ execution_id, outcome, reason, ended_at }) => [execution_id, outcome, reason, ended_at])
        .sort(),
      [
        ['one', 'recorded', null, at(2)],
        ['two', 'failed', 'agent_timeout', null],
      ],
    )
    assert.deepEqual(await overlap('two'), { named: ['one'], count: 1 })
    await t.store.completeRuns(['one'], { reason: 'store_fault' })
    assert.equal((await t.store.runOf('one'))?.outcome, 'recorded', 'a complete run stays as it is')
    await t.store.removeRuns(['one'])
    assert.equal(await t.store.runOf('one'), null)
  })

  test('settings are stored per agent, and a deleted agent leaves nothing', async () => {
    await using t = await openWorld()
    assert.equal(await t.store.settings(t.ada), null)
    const settings = {
      agent_id: t.ada,
      is_on: 0,
      undo_failed: 0,
      start_from_record: 0,
      rules: null,
      quota_bytes: 5_000_000_000,
      updated_at: at(0),
    }
    await t.store.putSettings({ ...settings, is_on: 1 })
    await t.store.putSettings(settings)
    assert.deepEqual(await t.store.settings(t.ada), settings)
    await t.store.insert(recordOf(t.ada, 'a1'))
    await t.store.beginRuns([runOf(t.ada, 'run', { before_id: 'a1' })])
    assert.equal((await t.world.request(t.key, 'DELETE', '/api/agents/ada')).status, 200)
    assert.deepEqual(
      [await t.store.agents(), await t.store.runOf('run'), await t.store.settings(t.ada)],
      [[], null, null],
    )
  })
})
