import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Loop } from '@roost/contracts/runs/loops'
import { isFault } from '../../kit/fault.ts'
import { agentKey, runKey } from '../../test/agents-platform.ts'
import { createTestClock, type TestClock } from '../../test/clock.ts'
import { forEachDialect, type TestDb } from '../../test/dialects.ts'
import { accept, agentFact, linked, person, resultOf, startRunPlatform } from '../../test/run-platform.ts'
import { breakerStore } from '../breaker/store.ts'
import { executionStore } from '../executions/index.ts'
import { type LoopPlatform, loopBody, startLoopPlatform } from './test/loop-platform.ts'

const never = new AbortController().signal
const ann = person()
const party = { caller: ann, agentId: 'a1', relation: 'shared' as const, agentName: 'scout' }
type ClaimedRun = { execution_id: string; claim_token: number; message: string }

forEachDialect((_, openDb) => {
  async function start(options: { isBreakerEnabled?: () => boolean } = {}) {
    return open(await openDb(), createTestClock(), options)
  }
  /** A process of the platform on this database. */
  async function open(db: TestDb, clock: TestClock, options: { isBreakerEnabled?: () => boolean } = {}) {
    const on = await startLoopPlatform({ db, clock, ...options })
    return {
      ...on,
      db,
      clock,
      restart: async () => open({ ...db, ...(await db.openAgain()) }, clock, options),
    }
  }
  const begin = async ({ loops }: LoopPlatform, over: Record<string, unknown> = {}, key?: string) => {
    const { body, replayed } = await loops.startOnce(party, loopBody(over), key)
    // The response has the shape of the endpoint.
    return { id: (body as { loop_id: string }).loop_id, replayed }
  }
  const claim = async (on: LoopPlatform): Promise<ClaimedRun[]> => {
    const { runs } = await on.dispatch.handlers.claim(linked, { t: 'claim', free: 10 })
    return runs.map(({ execution_id, claim_token, message }) => ({ execution_id, claim_token, message }))
  }
  const claimOne = async (on: LoopPlatform): Promise<ClaimedRun> => {
    const runs = await claim(on)
    assert.equal(runs.length, 1)
    return runs[0] ?? assert.fail()
  }
  const end = async (on: LoopPlatform, run: ClaimedRun, over: Parameters<typeof resultOf>[1] = {}) => {
    await on.dispatch.handlers.result(linked, resultOf(run, over))
    await on.loops.settled()
  }
  const failing = { status: 'failed' as const, response: null, error: 'no luck', error_code: 'oom' as const }
  const view = ({ loops }: LoopPlatform, id: string): Promise<Loop> => loops.find(ann, id)
  const outcome = async (on: LoopPlatform, id: string) => {
    const { status, stop_reason, runs_completed } = await view(on, id)
    return [status, stop_reason, runs_completed]
  }
  const pass = async ({ loops }: LoopPlatform) => {
    await loops.loops[0]?.run(never)
    await loops.settled()
  }
  const eventsOf = async (on: LoopPlatform, type: string) => {
    await on.events.relaying.pass()
    return (await on.events.after(0, 5000)).filter((event) => event.type === type).map(({ fields }) => fields)
  }

  test('runs get their number and the previous reply; costs are summed; the end is an event', async () => {
    const on = await start()
    const { id } = await begin(on, { message: 'no {{run}} after "{{previous_response}}"' })
    assert.equal((await view(on, id)).status, 'queued')
    const first = await claimOne(on)
    assert.equal(first.message, 'no 1 after ""')
    assert.equal((await view(on, id)).status, 'running')
    await end(on, first, { response: 'one', metadata: { cost_usd: 0.25 } })
    const second = await claimOne(on)
    assert.equal(second.message, 'no 2 after "one"')
    await end(on, second, { response: 'two', metadata: { cost_usd: 0.5 } })
    await end(on, await claimOne(on), { response: 'three' })
    const loop = await view(on, id)
    assert.deepEqual(
      [
        loop.status,
        loop.stop_reason,
        loop.runs_completed,
        loop.failed_runs,
        loop.total_cost,
        loop.last_response,
      ],
      ['completed', 'max_runs_reached', 3, 0, 0.75, 'three'],
    )
    assert.deepEqual(
      loop.runs.map((run) => [run.run_number, run.status, run.response_preview, run.cost]),
      [
        [1, 'completed', 'one', 0.25],
        [2, 'completed', 'two', 0.5],
        [3, 'completed', 'three', null],
      ],
    )
    assert.equal(loop.started_by, 'ann@example.org')
    assert.deepEqual(await claim(on), [])
    assert.deepEqual(
      (await eventsOf(on, 'loop.run_completed')).map((fields) => fields.run_number),
      [1, 2, 3],
    )
    const fields = { loop_id: id, status: 'completed', stop_reason: 'max_runs_reached' }
    assert.deepEqual(await eventsOf(on, 'loop.completed'), [{ ...fields, runs_completed: 3, failed_runs: 0 }])
  })

  test('halting an agent ends its loops: an idle one immediately, the others with their run', async () => {
    const on = await start()
    const idle = await begin(on, { delay_seconds: 600 })
    await end(on, await claimOne(on))
    const running = await begin(on)
    const run = await claimOne(on)
    await on.loops.halt('a1')
    await on.loops.settled()
    assert.deepEqual(await outcome(on, idle.id), ['stopped', 'user_stopped', 1])
    assert.equal((await view(on, running.id)).status, 'running')
    await end(on, run)
    assert.deepEqual(await outcome(on, running.id), ['stopped', 'user_stopped', 1])
  })

  test('three equal replies in a row end a loop, ignoring white space; with threshold 0 they do not', async () => {
    const on = await start()
    const { id } = await begin(on, { max_runs: 9 })
    for (const response of ['other', 'the  same\n', ' the same', 'the\tsame']) {
      await end(on, await claimOne(on), { response })
    }
    assert.deepEqual(await outcome(on, id), ['stopped', 'no_progress', 4])
    const endless = await begin(on, { max_runs: 4, no_progress_threshold: 0 })
    for (let run = 0; run < 4; run += 1) await end(on, await claimOne(on))
    assert.deepEqual(await outcome(on, endless.id), ['completed', 'max_runs_reached', 4])
  })

  test('continue: the last successful reply is passed on, and three failures in a row end the loop', async () => {
    const on = await start()
    const { id } = await begin(on, { max_runs: 9, on_failure: 'continue', message: '{{previous_response}}!' })
    await end(on, await claimOne(on), { response: 'good' })
    for (let run = 0; run < 3; run += 1) {
      const claimed = await claimOne(on)
      assert.equal(claimed.message, 'good!')
      await end(on, claimed, failing)
    }
    const loop = await view(on, id)
    assert.deepEqual(
      [loop.status, loop.stop_reason, loop.failed_runs, loop.last_response],
      ['failed', 'error', 3, 'good'],
    )
    assert.match(loop.error ?? '', /3 runs in a row/)
    const tolerated = await begin(on, { max_runs: 2, on_failure: 'continue' })
    await end(on, await claimOne(on), failing)
    await end(on, await claimOne(on))
    assert.deepEqual(await outcome(on, tolerated.id), ['completed_with_errors', 'max_runs_reached', 2])
  })

  test('abort: the first failure ends the loop', async () => {
    const on = await start()
    const { id } = await begin(on)
    await end(on, await claimOne(on), failing)
    assert.deepEqual(await outcome(on, id), ['failed', 'error', 1])
    assert.equal((await view(on, id)).error, 'Run 1 failed: no luck')
  })

  test('the budget ends a loop after the run that exhausts it', async () => {
    const on = await start()
    const { id } = await begin(on, { max_cost_usd: 0.5, max_runs: 9 })
    await end(on, await claimOne(on), { response: '1', metadata: { cost_usd: 0.25 } })
    await end(on, await claimOne(on), { response: '2', metadata: { cost_usd: 0.3 } })
    assert.deepEqual(await outcome(on, id), ['stopped', 'budget_exhausted', 2])
  })

  test('a stop lets the current run finish; a second stop is already_done', async () => {
    const on = await start()
    const { id } = await begin(on)
    const run = await claimOne(on)
    assert.equal(await on.loops.stop(ann, id), 'stopping')
    await on.loops.settled()
    const stopping = await view(on, id)
    assert.deepEqual([stopping.status, stopping.stop_requested_at !== null], ['running', true])
    await end(on, run)
    assert.deepEqual(await outcome(on, id), ['stopped', 'user_stopped', 1])
    assert.equal(await on.loops.stop(ann, id), 'already_done')
    assert.deepEqual(await claim(on), [])
  })

  test('next_run_at delays the next run; a stop ends the delay immediately', async () => {
    const on = await start()
    const { id } = await begin(on, { delay_seconds: 60 })
    await end(on, await claimOne(on), { response: 'a' })
    assert.equal((await view(on, id)).next_run_at, '2026-01-05T08:01:00.000Z')
    await pass(on)
    assert.deepEqual(await claim(on), [])
    await on.clock.advance(60)
    await pass(on)
    await end(on, await claimOne(on), { response: 'b' })
    await on.loops.stop(ann, id)
    await on.loops.settled()
    assert.deepEqual(await outcome(on, id), ['stopped', 'user_stopped', 2])
    assert.equal((await view(on, id)).next_run_at, null)
  })

  test("a deadline below the agent's timeout limits each run, which ends as deadline_exceeded", async () => {
    const on = await start()
    on.agents.set('a1', agentFact({ execution_timeout_seconds: 3600 }))
    const { id } = await begin(on, { max_duration_seconds: 600 })
    const timeoutOf = async ({ execution_id }: ClaimedRun) =>
      (await executionStore(on.db).byId(execution_id))?.timeout_seconds
    const first = await claimOne(on)
    assert.equal(await timeoutOf(first), 600)
    await on.clock.advance(200)
    await end(on, first)
    const second = await claimOne(on)
    assert.equal(await timeoutOf(second), 400)
    await on.clock.advance(400)
    await end(on, second, { ...failing, error_code: 'timeout' })
    assert.deepEqual(await outcome(on, id), ['stopped', 'deadline_exceeded', 2])
  })

  test('a deadline during the delay ends the loop when it passes', async () => {
    const on = await start()
    const { id } = await begin(on, { delay_seconds: 3600, timeout_per_run: 10, max_duration_seconds: 90 })
    await end(on, await claimOne(on))
    assert.equal((await view(on, id)).next_run_at, '2026-01-05T08:01:30.000Z')
    await on.clock.advance(90)
    await pass(on)
    assert.deepEqual(await outcome(on, id), ['stopped', 'deadline_exceeded', 1])
    assert.equal((await view(on, id)).elapsed_seconds, 90)
  })

  test('a short delay ends in the process that planned it, without a pass', async () => {
    const on = await start()
    await begin(on, { delay_seconds: 3 })
    await end(on, await claimOne(on))
    await on.clock.advance(3)
    await on.loops.settled()
    await claimOne(on)
    await on.loops.close()
  })

  test('a terminated run counts as a stop by the user', async () => {
    const on = await start()
    const { id } = await begin(on)
    const run = await claimOne(on)
    await on.executions.terminate({ caller: ann, agentId: 'a1', relation: 'owner' }, run.execution_id)
    await on.loops.settled()
    assert.deepEqual(await outcome(on, id), ['stopped', 'user_stopped', 1])
    assert.equal((await view(on, id)).runs[0]?.status, 'cancelled')
  })

  test('a loop waits for a stopped agent; a stop takes effect meanwhile', async () => {
    const on = await start()
    const [first, second] = [await begin(on), await begin(on)]
    const runs = await claim(on)
    on.agents.set('a1', agentFact({ status: 'stopped' }))
    for (const run of runs) await end(on, run)
    assert.deepEqual(await outcome(on, first.id), ['running', null, 1])
    await on.loops.stop(ann, second.id)
    await on.loops.settled()
    assert.deepEqual(await outcome(on, second.id), ['stopped', 'user_stopped', 1])
    on.agents.set('a1', agentFact())
    await on.clock.advance(10)
    await pass(on)
    const next = await claimOne(on)
    assert.equal((await view(on, first.id)).runs[1]?.execution_id, next.execution_id)
  })

  test('an open breaker postpones the next run without a failed one, and refuses a new loop', async () => {
    const on = await start({ isBreakerEnabled: () => true })
    const { id } = await begin(on, { delay_seconds: 60 })
    await end(on, await claimOne(on), { response: 'a' })
    await on.db.atomically(async (tx) => {
      await breakerStore(tx).hold('a1', 'dispatch')
      const retryAt = '2026-01-05T08:03:00.000Z'
      const isOpen = { failureCount: 3, failedAt: [], openings: 1, retryAt, probe: null }
      await breakerStore(tx).write('a1', 'dispatch', isOpen)
    })
    await on.clock.advance(60)
    await pass(on)
    const loop = await view(on, id)
    assert.deepEqual([loop.status, loop.runs.length, loop.failed_runs], ['running', 1, 0])
    assert.equal(loop.next_run_at, '2026-01-05T08:02:00.000Z')
    await assert.rejects(begin(on), (error) => isFault(error, 'circuit_open'))
    const refused = await executionStore(on.db).list(
      { agentId: 'a1', status: 'failed' },
      { limit: 9, offset: 0 },
    )
    assert.deepEqual(
      refused.map(({ error_code, loop_id }) => [error_code, loop_id]),
      [['circuit_open', null]],
    )
  })

  test('two processes take the same steps 20 times concurrently: ten runs, each started and counted once', async () => {
    const on = await start()
    const other = await on.restart()
    const { id } = await begin(on, { max_runs: 10, no_progress_threshold: 0 })
    const claimed: string[] = []
    for (let run = 0; run < 10; run += 1) {
      const [next, ...more] = await claim(run % 2 ? on : other)
      assert.deepEqual(more, [])
      claimed.push((next ?? assert.fail()).execution_id)
      // The process that records the result dies before the consequences.
      const dying = await startRunPlatform({ db: on.db, clock: on.clock })
      await dying.dispatch.handlers.result(
        linked,
        resultOf(next ?? assert.fail(), { metadata: { cost_usd: 0.01 } }),
      )
      await Promise.all(Array.from({ length: 20 }, (_each, index) => pass(index % 2 ? on : other)))
    }
    assert.equal(new Set(claimed).size, 10)
    assert.deepEqual(await claim(on), [])
    const loop = await view(on, id)
    assert.deepEqual([loop.status, loop.runs.length, loop.total_cost], ['completed', 10, 0.1])
    assert.equal((await eventsOf(on, 'loop.run_completed')).length, 10)
    assert.equal((await eventsOf(on, 'loop.completed')).length, 1)
  })

  test('20 concurrent requests with one key start one loop; after a stop the key starts another', async () => {
    const on = await start()
    const started = await Promise.all(Array.from({ length: 20 }, () => begin(on, {}, 'k')))
    assert.equal(new Set(started.map(({ id }) => id)).size, 1)
    assert.equal(started.filter(({ replayed }) => !replayed).length, 1)
    const id = started[0]?.id ?? assert.fail()
    await on.loops.stop(ann, id)
    await end(on, await claimOne(on))
    assert.notEqual((await begin(on, {}, 'k')).id, id)
  })

  test('deleting an agent deletes its loops', async () => {
    const on = await start()
    const { id } = await begin(on)
    await claimOne(on)
    await on.db.atomically(async (tx) => {
      await on.loops.agentDeleted(tx, 'a1')
      await on.dispatch.agentDeleted(tx, 'a1')
    })
    await on.loops.settled()
    await assert.rejects(view(on, id), (error) => isFault(error, 'loop_not_found'))
  })

  test('an agent that started a loop needs its permission for each run and sees only its own loops', async () => {
    const on = await start()
    on.edges.set('a2', new Set(['a1']))
    const key = { id: 'k2', name: 'k2', scope: 'agent' as const, agent_id: 'a2' }
    const caller = { kind: 'key' as const, user: person({ id: 'u-owner' }).user, key }
    const permitted = { ...party, caller, relation: 'permitted' as const }
    const { body } = await on.loops.startOnce(permitted, loopBody(), undefined)
    const { loop_id } = body as { loop_id: string }
    const foreign = await begin(on)
    assert.equal((await on.loops.find(caller, loop_id)).started_by, 'name-of-a2')
    assert.deepEqual(
      (await on.loops.list(permitted, { limit: 9 })).map((loop) => loop.loop_id),
      [loop_id],
    )
    await assert.rejects(on.loops.find(caller, foreign.id), (error) => isFault(error, 'loop_not_found'))
    const runs = await claim(on)
    on.edges.delete('a2')
    for (const run of runs) await end(on, run)
    const owner = person({ id: 'u-owner' })
    const loop = await on.loops.find(owner, loop_id)
    assert.deepEqual([loop.status, loop.stop_reason, loop.runs_completed], ['failed', 'error', 1])
    await assert.rejects(on.loops.stop(caller, loop_id), (error) => isFault(error, 'loop_not_found'))
    await assert.rejects(on.loops.find(person({ id: 'u9', email: null }), loop_id), (error) =>
      isFault(error, 'loop_not_found'),
    )
  })

  test('loops that overlap keep the depth of the call that started them', async () => {
    const on = await start()
    const self = { ...party, caller: agentKey('a1'), relation: 'self' as const }
    const ids: string[] = []
    for (const message of ['one', 'other']) {
      const { body } = await on.loops.startOnce(self, loopBody({ message, max_runs: 10 }), undefined)
      // The response has the shape of the endpoint.
      ids.push((body as { loop_id: string }).loop_id)
    }
    const open = await claim(on)
    const depths = new Set<number>()
    for (let run = open.shift(); run; run = open.shift()) {
      depths.add((await on.row(run.execution_id)).chain_depth)
      await end(on, run, { response: `reply ${run.execution_id}` })
      open.push(...(await claim(on)))
    }
    assert.deepEqual([...depths], [1])
    for (const id of ids) {
      const { status, runs_completed } = await on.loops.find(self.caller, id)
      assert.deepEqual([status, runs_completed], ['completed', 10])
    }
  })

  test('each run of a loop is one call deeper than the run that started it, so a chain ends at eight', async () => {
    const on = await start()
    let depth = 0
    let run = await accept(on)
    const startFrom = async () => {
      const self = { ...party, caller: runKey(run), relation: 'self' as const }
      await on.loops.startOnce(self, loopBody({ max_runs: 2 }), undefined)
    }
    for (depth = 1; depth <= 8; depth += 1) {
      const starter = (await claim(on)).find(({ execution_id }) => execution_id === run.id) ?? assert.fail()
      await startFrom()
      await end(on, starter)
      const first = await claimOne(on)
      await end(on, first)
      const second = await executionStore(on.db).list({ agentId: 'a1' }, { limit: 1, offset: 0 })
      run = second[0] ?? assert.fail()
      assert.deepEqual(
        [(await on.row(first.execution_id)).chain_depth, run.chain_depth, run.status],
        [depth, depth, 'queued'],
      )
    }
    await claimOne(on)
    await assert.rejects(startFrom(), (error) => isFault(error, 'inter_agent_depth_exceeded'))
  })

  test('400 for a run above the cap and a deadline below timeout_per_run; lists filter by status', async () => {
    const on = await start()
    on.agents.set('a1', agentFact({ execution_timeout_seconds: 60 }))
    await assert.rejects(begin(on, { timeout_per_run: 61 }), (error) => {
      assert.ok(isFault(error, 'loop_timeout_exceeds_agent_cap'))
      assert.deepEqual(error.fields, { agent_cap_seconds: 60, requested_seconds: 61 })
      return true
    })
    await assert.rejects(begin(on, { timeout_per_run: 60, max_duration_seconds: 59 }), (error) =>
      isFault(error, 'loop_deadline_below_run_timeout'),
    )
    const [done, running] = [await begin(on, { max_runs: 1 }), await begin(on)]
    const [first] = await claim(on)
    await end(on, first ?? assert.fail())
    const queued = await begin(on)
    const ids = async (status?: string) =>
      (await on.loops.list(party, { status, limit: 9 })).map((loop) => loop.loop_id)
    assert.deepEqual(await ids('completed'), [done.id])
    assert.deepEqual(await ids('running'), [running.id])
    assert.deepEqual(await ids('queued'), [queued.id])
    assert.equal((await ids()).length, 3)
    await assert.rejects(ids('sleeping'), (error) => isFault(error, 'unknown_filter'))
  })
})
