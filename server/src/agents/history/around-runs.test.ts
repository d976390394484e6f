import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkDown, LinkTimeout } from '../../ports/agent-link/port.ts'
import { silentLog } from '../../ports/log.ts'
import { HistoryFull } from '../../ports/workspace-history/port.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { openAgents, until } from '../test/world.ts'
import { createAroundRuns, type StartedRun } from './around-runs.ts'
import type { MadeRecord, RecordRequest } from './record.ts'
import { historyStore } from './store.ts'

const writes = (...ids: string[]) => ids.map((id) => ({ id, mayWrite: true, isOwners: true }))

forEachDialect((_, open) => {
  async function openWorld() {
    const world = await openAgents(await open())
    const { key } = await world.person('admin')
    await world.request(key, 'POST', '/api/agents', { name: 'ada' })
    const agentId = (await world.row('ada')).id
    const store = historyStore(world.db)
    const clock = createTestClock()
    const state = { isOn: true, fault: null as unknown, count: 0 }
    const reasons: string[] = []
    const results: string[] = []
    const recorded: string[] = []
    const events = { wakes: 0, full: 0 }
    const count = (what: keyof typeof events) => {
      events[what] += 1
    }
    /** Set: records wait for it. */
    let gate: Promise<void> | null = null
    let reached = Promise.withResolvers<void>()

    async function make(_: string, request: RecordRequest): Promise<MadeRecord> {
      reached.resolve()
      reached = Promise.withResolvers()
      await gate
      if (state.fault) throw state.fault
      state.count += 1
      const reason = request.reason()
      reasons.push(reason)
      const record = await store.insert({
        ...{ id: `r${state.count}`, agent_id: agentId, reason, created_at: clock.now().toISOString() },
        ...{ base_id: null, source_id: null, is_changed: 1, added: 0, changed: 0, deleted: 0, renamed: 0 },
        ...{ received_bytes: 0, rules: null, left_out: '[]', left_out_count: 0, pinned: 0, pinned_by: null },
        attempt_set_id: null,
      })
      return { record, isNew: true }
    }

    const recording = createAroundRuns({
      ...{ db: world.db, clock, log: silentLog, make },
      link: { wake: () => count('wakes') },
      isOn: async () => state.isOn,
      full: () => count('full'),
      made: (result) => void results.push(result),
      recorded: (_, recordId) => void recorded.push(recordId),
    })
    const claim = (running: string[], waiting: number) =>
      recording.mayClaim(agentId, { running, isWaiting: waiting > 0 })
    return {
      ...{ clock, state, reasons, results, recorded, events, claim, store, agentId },
      /** A claim and the runs that it gets. */
      async run(running: string[], ...ids: string[]) {
        assert.equal(await claim(running, ids.length), true)
        await recording.started(agentId, writes(...ids))
      },
      started: (...runs: StartedRun[]) => recording.started(agentId, runs),
      /** Makes records wait until the returned function is called. */
      hold() {
        const { promise, resolve } = Promise.withResolvers<void>()
        gate = promise
        return () => {
          gate = null
          resolve()
        }
      },
      reached: () => reached.promise,
      async row(id: string) {
        const row = await store.runOf(id)
        assert.ok(row)
        const { outcome, reason, before_id, after_id } = row
        const { named, count } = await store.overlapOf(row)
        assert.equal(named.length, Math.min(count, 20))
        return { outcome, reason, before: before_id, after: after_id, with: named.sort() }
      },
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  }

  test('a run has the records before and after it; the latter is that before the next', async () => {
    await using t = await openWorld()
    await t.run([], 'one')
    assert.deepEqual(await t.row('one'), {
      ...{ outcome: 'recording', reason: null, before: 'r1', after: null, with: [] },
    })
    await t.run([], 'two')
    assert.deepEqual(await t.row('one'), {
      ...{ outcome: 'recorded', reason: null, before: 'r1', after: 'r2', with: [] },
    })
    assert.equal((await t.row('two')).before, 'r2')
    assert.deepEqual(t.reasons, ['before_run', 'after_run'])
    assert.deepEqual(t.recorded, ['r1', 'r2'])
  })

  test('a claim without waiting runs records behind the result, and a new run waits for it', async () => {
    await using t = await openWorld()
    await t.run([], 'one')
    const release = t.hold()
    const started = t.reached()
    assert.equal(await t.claim([], 0), true)
    await started
    const next = t.claim([], 1)
    release()
    assert.equal(await next, true)
    assert.equal((await t.row('one')).after, 'r2')
    assert.equal(t.events.wakes, 0, 'its claim was answered in time')
  })

  test('overlapping runs share their records and name each other', async () => {
    await using t = await openWorld()
    await t.run([], 'one')
    await t.run(['one'], 'two')
    // The first has ended, and the third starts while the second works.
    await t.run(['two'], 'three', 'four')
    assert.deepEqual(t.reasons, ['before_run'])
    assert.equal(await t.claim([], 0), true)
    await t.claim([], 1)
    const all = ['one', 'two', 'three', 'four']
    for (const id of all) {
      const others = all.filter((each) => each !== id).sort()
      assert.deepEqual(await t.row(id), {
        ...{ outcome: 'recorded', reason: null, before: 'r1', after: 'r2', with: others },
      })
    }
  })

  test('many runs without a pause share their records', async () => {
    await using t = await openWorld()
    const all = Array.from({ length: 130 }, (_, index) => `run-${index}`)
    // More than a claim reads at first: of running ones, and then of ended ones.
    await t.run([], ...all.slice(0, 60))
    await t.run(all.slice(0, 60), ...all.slice(60, 70))
    for (const [index, id] of all.slice(70).entries()) await t.run(all.slice(index + 11, index + 70), id)
    assert.deepEqual(t.reasons, ['before_run'], 'one of them was running all the time')
    await t.claim([], 1)
    assert.deepEqual(t.reasons, ['before_run', 'after_run'])
    const rows = await t.store.runsOf(all)
    assert.deepEqual(
      new Set(rows.map((row) => `${row.before_id} ${row.after_id} ${row.overlapped_count}`)),
      new Set([`r1 r2 ${all.length - 1}`]),
    )
    assert.equal((await t.row('run-0')).with.length, 20)
    assert.ok(rows.every(({ ended_at }) => ended_at !== null))
  })

  test('a run that may not write has no records, and shares none', async () => {
    await using t = await openWorld()
    await t.run([], 'one')
    await t.started({ id: 'reader', mayWrite: false, isOwners: false })
    assert.deepEqual((await t.row('one')).with, [])
    const { outcome, reason } = await t.row('reader')
    assert.deepEqual([outcome, reason], ['skipped', 'run_may_not_write'])
    const owners = await Promise.all(['one', 'reader'].map((id) => t.store.runOf(id)))
    assert.deepEqual(
      owners.map((run) => run?.by_owner),
      [1, 0],
    )
  })

  test('a failed record never stops a run, and its run names the reason', async () => {
    await using t = await openWorld()
    t.state.fault = new HistoryFull()
    await t.run([], 'one')
    assert.deepEqual([t.events.full, (await t.row('one')).reason], [1, 'quota_full'])
    t.state.fault = null
    await t.run([], 'two')
    assert.deepEqual(await t.row('one'), {
      ...{ outcome: 'failed', reason: 'quota_full', before: null, after: 'r1', with: [] },
    })
    t.state.fault = new LinkTimeout()
    await t.run([], 'three')
    assert.deepEqual(await t.row('two'), {
      ...{ outcome: 'failed', reason: 'agent_timeout', before: 'r1', after: null, with: [] },
    })
    assert.equal((await t.row('three')).reason, 'agent_timeout')
    assert.deepEqual(t.results, ['quota_full', 'new', 'agent_timeout'])
  })

  test('after a broken link the record is made on the next one', async () => {
    await using t = await openWorld()
    await t.run([], 'one')
    t.state.fault = new LinkDown()
    await t.claim([], 1)
    assert.equal((await t.row('one')).outcome, 'recording')
    t.state.fault = null
    await t.claim([], 1)
    assert.equal((await t.row('one')).after, 'r2')
  })

  test('a record that ends after the agent has a new link lets the agent claim again', async () => {
    await using t = await openWorld()
    await t.run([], 'one')
    t.state.fault = new LinkDown()
    const release = t.hold()
    const started = t.reached()
    assert.equal(await t.claim([], 0), true)
    await started
    assert.equal(await t.claim([], 0), true, 'the claim of the new link')
    release()
    await until(() => t.events.wakes === 1, 'the agent is woken')
    t.state.fault = null
    await t.claim([], 0)
    await until(async () => (await t.row('one')).after === 'r2', 'the record is made')
  })

  test('a slow record lets the claim go empty, wakes the agent, and is not waited for forever', async () => {
    await using t = await openWorld()
    const release = t.hold()
    const started = t.reached()
    const first = t.claim([], 1)
    await started
    await t.clock.waitingFor(10)
    await t.clock.advance(10)
    assert.equal(await first, false)
    assert.equal(t.events.wakes, 0)
    await t.clock.advance(110)
    await until(() => t.events.wakes === 1, 'the agent is woken')
    assert.equal(await t.claim([], 1), true)
    await t.started(...writes('one'))
    assert.equal((await t.row('one')).reason, 'agent_timeout')
    release()
    await t.claim(['one'], 1)
    await until(() => t.reasons.length === 1, 'the record is made')
    assert.deepEqual(t.reasons, ['demand'], 'it may contain what the run did meanwhile')
  })

  test('with the history off, runs are skipped and open ones end', async () => {
    await using t = await openWorld()
    await t.run([], 'one')
    t.state.isOn = false
    await t.started(...writes('two'))
    const rows = [await t.row('one'), await t.row('two')]
    assert.deepEqual(
      rows.map(({ outcome, reason }) => [outcome, reason]),
      [
        ['failed', 'history_off'],
        ['skipped', 'history_off'],
      ],
    )
    t.state.isOn = true
    await t.run([], 'three')
    assert.equal((await t.row('three')).before, 'r2')
  })
})
