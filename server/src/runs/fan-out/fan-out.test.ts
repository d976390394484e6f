import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FanOutBody } from '@roost/contracts/runs/fan-out'
import { agentStore, blankRow } from '../../agents/records/index.ts'
import { isFault } from '../../kit/fault.ts'
import { createTestClock, type TestClock } from '../../test/clock.ts'
import { forEachDialect, type TestDb } from '../../test/dialects.ts'
import {
  accept,
  agentFact,
  linked,
  person,
  type RunPlatform,
  resultOf,
  startRunPlatform,
} from '../../test/run-platform.ts'
import { breakerStore } from '../breaker/store.ts'
import { executionStore } from '../executions/index.ts'
import { type FanOutPlatform, fanOutBody, startFanOutPlatform } from './test/fan-out-platform.ts'

const never = new AbortController().signal
const reader = { caller: person(), agentId: 'a1', relation: 'owner' as const }
const letters = { queued: 'q', running: 'r', completed: 's', failed: 'f', cancelled: 'x' }
type ClaimedRun = { execution_id: string; claim_token: number }

forEachDialect((_, openDb) => {
  type Options = { slots?: number; queueDepth?: number; isBreakerEnabled?: () => boolean }

  async function start(options: Options = {}) {
    return open(await openDb(), createTestClock(), options)
  }
  /** A process of the platform on this database. */
  async function open(db: TestDb, clock: TestClock, { slots = 10, ...options }: Options = {}) {
    const on = await startFanOutPlatform({ db, clock, ...options })
    on.agents.set('a1', agentFact({ effective_slots: slots }))
    return {
      ...on,
      db,
      clock,
      restart: async () => open({ ...db, ...(await db.openAgain()) }, clock, { slots }),
    }
  }
  const begin = async ({ fanOuts }: FanOutPlatform, body: FanOutBody) => {
    const entered = await fanOuts.startOnce(reader, body, undefined)
    if (entered.replay) assert.fail('replayed')
    return entered.accepted.fanOut.id
  }
  const claim = async (on: RunPlatform, free = 20): Promise<ClaimedRun[]> =>
    (await on.dispatch.handlers.claim(linked, { t: 'claim', free })).runs
  /** Reports the end of a run and waits for its consequences. */
  const end = async (on: FanOutPlatform, run: ClaimedRun, over: Parameters<typeof resultOf>[1] = {}) => {
    await on.dispatch.handlers.result(linked, resultOf(run, over))
    await on.fanOuts.settled()
  }
  const completions = async (on: RunPlatform) => {
    await on.events.relaying.pass()
    const events = await on.events.after(0, 5000)
    return events.filter(({ type }) => type === 'fan_out.completed').map(({ fields }) => fields)
  }
  const statuses = async ({ fanOuts }: FanOutPlatform, id: string) =>
    (await fanOuts.find(reader, id)).results.map(({ status }) => letters[status]).join('')
  const repair = ({ fanOuts }: FanOutPlatform) => fanOuts.loops[0]?.run(never)

  test('every task has an execution from the start; at most max_concurrency are claimed', async () => {
    const on = await start()
    const id = await begin(on, fanOutBody(7))
    const view = await on.fanOuts.find(reader, id)
    assert.deepEqual(
      view.results.map((task) => task.id),
      ['t1', 't2', 't3', 't4', 't5', 't6', 't7'],
    )
    assert.equal(new Set(view.results.map((task) => task.execution_id)).size, 7)
    assert.deepEqual([view.status, view.total, view.queued], ['running', 7, 7])
    const first = await claim(on)
    assert.deepEqual(
      first.map((run) => run.execution_id),
      view.results.slice(0, 3).map((task) => task.execution_id),
    )
    assert.deepEqual(await claim(on), [])
    await end(on, first[1] ?? assert.fail())
    assert.equal(await statuses(on, id), 'rsrqqqq')
    const [fourth, ...others] = await claim(on)
    assert.equal(fourth?.execution_id, view.results[3]?.execution_id)
    assert.deepEqual(others, [])
  })

  test('two processes with 20 tasks: each is claimed once, four run at a time, one end event', async () => {
    const on = await start()
    const other = await on.restart()
    const id = await begin(on, fanOutBody(20, { max_concurrency: 4 }))
    const claimed: string[] = []
    const running: number[] = []
    const work = async (process: FanOutPlatform) => {
      while (claimed.length < 20) {
        const runs = await claim(process, 2)
        claimed.push(...runs.map((run) => run.execution_id))
        running.push((await process.fanOuts.find(reader, id)).running)
        for (const run of runs) await process.dispatch.handlers.result(linked, resultOf(run))
        await process.fanOuts.settled()
      }
    }
    await Promise.all([on, on, on, other, other, other].map(work))
    await Promise.all([on.fanOuts.settled(), other.fanOuts.settled()])
    assert.equal(new Set(claimed).size, 20)
    assert.equal(claimed.length, 20)
    assert.ok(Math.max(...running) <= 4, `${Math.max(...running)} at a time`)
    assert.equal((await on.fanOuts.find(reader, id)).status, 'completed')
    assert.deepEqual(await completions(on), [
      { fan_out_id: id, status: 'completed', total: 20, completed: 20, failed: 0 },
    ])
  })

  test('a failed task does not stop the others; a terminated one is cancelled in any state', async () => {
    const on = await start()
    const id = await begin(on, fanOutBody(6, { max_concurrency: 2 }))
    const { results } = await on.fanOuts.find(reader, id)
    const executionOf = (index: number) => results[index]?.execution_id ?? assert.fail()
    const terminate = async (index: number) => {
      const { status } = await on.executions.terminate(reader, executionOf(index))
      await on.fanOuts.settled()
      return status
    }
    const [first, second] = await claim(on)
    await end(on, first ?? assert.fail(), {
      status: 'failed',
      response: null,
      error: 'no',
      error_code: 'oom',
    })
    assert.equal(await statuses(on, id), 'frqqqq')
    // The third is queued, the fourth is held.
    assert.equal(await terminate(3), 'cancelled_while_queued')
    assert.equal(await terminate(2), 'cancelled_while_queued')
    assert.equal(await statuses(on, id), 'frxxqq')
    await on.dispatch.handlers.started(linked, {
      t: 'started',
      ...(second ?? assert.fail()),
      pid: 1,
    })
    await terminate(1)
    for (const run of await claim(on)) await end(on, run, { metadata: { cost_usd: 0.5 } })
    const view = await on.fanOuts.find(reader, id)
    assert.deepEqual(
      view.results.map(({ status, error_code, cost }) => [status, error_code, cost]),
      [
        ['failed', 'oom', null],
        ['cancelled', 'user_cancelled', null],
        ['cancelled', 'user_cancelled', null],
        ['cancelled', 'user_cancelled', null],
        ['completed', null, 0.5],
        ['completed', null, 0.5],
      ],
    )
    assert.deepEqual(
      [view.status, view.completed, view.failed, view.cancelled, view.running, view.queued],
      ['partial', 2, 1, 3, 0, 0],
    )
    assert.deepEqual(await completions(on), [
      { fan_out_id: id, status: 'partial', total: 6, completed: 2, failed: 1 },
    ])
  })

  test('another process completes the work of a killed one: tasks continue, one end event', async () => {
    const on = await start()
    const id = await begin(on, fanOutBody(5, { max_concurrency: 2 }))
    // This process records results of runs and dies before the consequences.
    const dying = await startRunPlatform({ db: on.db, clock: on.clock })
    const die = async (run: ClaimedRun) => dying.dispatch.handlers.result(linked, resultOf(run))
    for (const run of await claim(on)) await die(run)
    assert.deepEqual(await claim(on), [])
    assert.equal(await statuses(on, id), 'ssqqq')
    const next = await on.restart()
    await Promise.all(Array.from({ length: 10 }, () => repair(next)))
    const runs = await claim(next)
    assert.equal(runs.length, 2)
    for (const run of runs) await die(run)
    await repair(next)
    for (const run of await claim(next)) await die(run)
    assert.equal((await next.fanOuts.find(reader, id)).status, 'completed')
    assert.deepEqual(await completions(next), [])
    await Promise.all(Array.from({ length: 20 }, (_each, index) => repair(index % 2 ? on : next)))
    assert.equal((await completions(next)).length, 1)
  })

  test('deleting the agent ends every task and completes the fan-out', async () => {
    const on = await start()
    const id = await begin(on, fanOutBody(5, { max_concurrency: 2 }))
    const [run] = await claim(on)
    await end(on, run ?? assert.fail())
    await claim(on)
    await on.db.atomically((tx) => on.dispatch.agentDeleted(tx, 'a1'))
    await on.fanOuts.settled()
    const view = await on.fanOuts.find(reader, id)
    assert.deepEqual([view.status, view.completed, view.cancelled], ['partial', 1, 4])
    assert.ok(view.results.slice(1).every((task) => task.error_code === 'agent_deleted'))
    assert.equal((await completions(on)).length, 1)
  })

  test('stopping the agent ends running tasks; the next ones stay queued until it runs again', async () => {
    const on = await start()
    const id = await begin(on, fanOutBody(5, { max_concurrency: 2 }))
    await claim(on)
    on.agents.set('a1', agentFact({ status: 'stopped' }))
    await on.db.atomically((tx) => on.dispatch.agentStopped(tx, 'a1'))
    await on.fanOuts.settled()
    assert.equal(await statuses(on, id), 'xxqqq')
    assert.deepEqual(await claim(on), [])
    on.agents.set('a1', agentFact())
    assert.equal((await claim(on)).length, 2)
  })

  test('held tasks do not block others: a later request is claimed first', async () => {
    const on = await start({ slots: 1 })
    await begin(on, fanOutBody(5, { max_concurrency: 1 }))
    const [first] = await claim(on)
    await on.clock.advance(1)
    const other = await accept(on)
    await on.clock.advance(1)
    await end(on, first ?? assert.fail())
    const [next] = await claim(on)
    assert.equal(next?.execution_id, other.id)
  })

  test('queue_full for the whole fan-out when its first tasks exceed the queue limit', async () => {
    const on = await start({ queueDepth: 10 })
    for (let count = 0; count < 8; count += 1) await accept(on)
    const count = () => executionStore(on.db).count({ agentId: 'a1' })
    await assert.rejects(begin(on, fanOutBody(3)), (error) => {
      assert.ok(isFault(error, 'queue_full'))
      assert.deepEqual(error.fields, { agent_name: 'scout', queue_length: 8 })
      return true
    })
    assert.equal(await count(), 8)
    const id = await begin(on, fanOutBody(50, { max_concurrency: 2 }))
    assert.equal(await count(), 58)
    assert.equal((await on.fanOuts.find(reader, id)).total, 50)
    await assert.rejects(accept(on), (error) => isFault(error, 'queue_full'))
  })

  test('of 20 concurrent fan-outs with room for seven, none is accepted in part', async () => {
    const on = await start({ queueDepth: 21 })
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => begin(on, fanOutBody(5))))
    const accepted = outcomes.filter(({ status }) => status === 'fulfilled')
    assert.equal(accepted.length, 7)
    assert.equal(await executionStore(on.db).count({ agentId: 'a1' }), 35)
  })

  test('with a half-open breaker one task is the probe; the others follow after its success', async () => {
    const on = await start({ isBreakerEnabled: () => true })
    await agentStore(on.db).insert({
      ...blankRow('scout', '2026-01-05T08:00:00.000Z'),
      id: 'a1',
      circuit_breaker_enabled: 1,
    })
    const halfOpen = { failureCount: 3, failedAt: [], openings: 1, retryAt: '2026-01-05T07:00:00.000Z' }
    await on.db.atomically(async (tx) => {
      await breakerStore(tx).hold('a1', 'dispatch')
      await breakerStore(tx).write('a1', 'dispatch', { ...halfOpen, probe: null })
    })
    await begin(on, fanOutBody(6))
    const [probe, ...others] = await claim(on)
    assert.deepEqual(others, [])
    await repair(on)
    assert.deepEqual(await claim(on), [])
    await end(on, probe ?? assert.fail())
    assert.equal((await claim(on)).length, 3)
  })
})
