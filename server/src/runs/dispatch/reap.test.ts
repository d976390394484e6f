import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HeldRun } from '@roost/contracts/link/messages'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import type { FakeAgentLink } from '../../ports/agent-link/fake.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect } from '../../test/dialects.ts'
import {
  accept,
  agentFact,
  linked,
  type RunPlatform,
  resultOf,
  startRunPlatform,
} from '../../test/run-platform.ts'
import { transcriptStore } from '../transcripts/index.ts'
import { passesBeforeVerdict } from './rules.ts'

const never = new AbortController().signal
const line: TranscriptLine = { type: 'system', subtype: 'notice', level: 'info', message: 'x' }

forEachDialect((_, open) => {
  async function start(options: { queueDepth?: number } = {}) {
    const db = await open()
    const clock = createTestClock()
    const platform = await startRunPlatform({ db, clock, ...options })
    return { platform, clock, db, on: platform.dispatch.handlers }
  }
  const claim = (platform: RunPlatform, free = 9) =>
    platform.dispatch.handlers.claim(linked, { t: 'claim', free }).then(({ runs }) => runs)
  const claimOne = async (platform: RunPlatform) => (await claim(platform, 1))[0] ?? assert.fail('none')
  /** A run whose runtime was spawned. */
  async function spawned(platform: RunPlatform, timeoutSeconds = 600) {
    await accept(platform, { timeoutSeconds })
    const run = await claimOne(platform)
    await platform.dispatch.handlers.started(linked, { t: 'started', ...hold(run), pid: 1 })
    return run
  }
  const hello = (platform: RunPlatform, held: HeldRun[]) =>
    platform.dispatch.handlers.hello(linked, {
      t: 'hello',
      protocol: 1,
      agent_name: 'scout',
      image_version: null,
      runtime: 'claude-code',
      runtime_version: null,
      started_at: '2026-01-05T08:00:00.000Z',
      held,
      abilities: ['principals'],
    })

  test('heartbeats keep a lease; without them a spawned run of a linked agent fails and a parked one is queued', async () => {
    const { platform, on, clock } = await start()
    const [a, b, c] = [await accept(platform), await accept(platform), await accept(platform)]
    const runs = await claim(platform)
    for (const run of runs.slice(0, 2)) await on.started(linked, { t: 'started', ...hold(run), pid: 1 })
    linkUp(platform)
    for (let beat = 0; beat < 12; beat += 1) {
      await clock.advance(10)
      await platform.dispatch.beat('a1', { executions: [{ execution_id: a.id }] })
      await reap(platform, 1)
    }
    assert.equal((await platform.row(a.id)).status, 'running')
    const failed = await platform.row(b.id)
    assert.deepEqual([failed.status, failed.error_code], ['failed', 'lease_expired'])
    assert.equal((await platform.row(c.id)).status, 'queued')
  })

  test('runs of an unreachable agent are left alone until the grace period of their slot is over', async () => {
    const { platform, on, clock } = await start()
    const row = await accept(platform, { timeoutSeconds: 600 })
    await on.started(linked, { t: 'started', ...hold(await claimOne(platform)), pid: 1 })
    await clock.advance(899)
    await reap(platform)
    assert.equal((await platform.row(row.id)).status, 'running')
    await clock.advance(1)
    await reap(platform)
    assert.equal((await platform.row(row.id)).error_code, 'lease_expired')
  })

  test('a run whose container is down is lost when its lease expires', async () => {
    const { platform, on, clock } = await start()
    const row = await accept(platform)
    await on.started(linked, { t: 'started', ...hold(await claimOne(platform)), pid: 1 })
    platform.agents.set('a1', agentFact({ status: 'exited' }))
    await clock.advance(61)
    await reap(platform)
    const lost = await platform.row(row.id)
    assert.deepEqual([lost.status, lost.error_code], ['failed', 'agent_lost'])
  })

  test('a run queued for more than 24 hours fails as queue_expired', async () => {
    const { platform, clock } = await start()
    const row = await accept(platform)
    await clock.advance(24 * 3600)
    await expire(platform)
    assert.equal((await platform.row(row.id)).status, 'queued')
    await clock.advance(1)
    await expire(platform)
    const expired = await platform.row(row.id)
    assert.deepEqual([expired.status, expired.error_code], ['failed', 'queue_expired'])
  })

  test('a claimed run of an agent offline for 24 hours fails as lost, and frees its slot', async () => {
    const { platform, clock } = await start()
    const row = await accept(platform, { timeoutSeconds: 600 })
    const run = await claimOne(platform)
    await clock.advance(24 * 3600 - 1)
    await reap(platform)
    assert.equal((await platform.row(row.id)).status, 'running')
    await clock.advance(1)
    await reap(platform)
    const lost = await platform.row(row.id)
    assert.deepEqual([lost.status, lost.error_code], ['failed', 'agent_lost'])
    assert.match(lost.error ?? '', /offline for 24 hours/)
    const late = await platform.dispatch.handlers.result(linked, resultOf(run))
    assert.deepEqual(late, { accepted: false, reason: 'already_final' })
  })

  test('a run not known to be spawned stays with its agent while the agent is offline', async () => {
    const { platform, clock, on } = await start()
    const row = await accept(platform, { timeoutSeconds: 600 })
    const run = await claimOne(platform)
    platform.agents.set('a1', agentFact({ status: 'exited' }))
    await clock.advance(3600)
    await reap(platform)
    assert.equal((await platform.row(row.id)).status, 'running')
    // The message that it was spawned was lost with the link; the run must not start twice.
    const { drop } = await hello(platform, [{ ...hold(run), state: 'finished', last_line: 0 }])
    assert.deepEqual(drop, [])
    assert.deepEqual(await on.result(linked, resultOf(run)), { accepted: true })
  })

  test('after a long outage of the platform a result that waits in the agent still counts', async () => {
    const { platform, clock, db, on } = await start()
    const run = await spawned(platform)
    await clock.advance(7200)
    // A new process: the agents of the runs it finds may be about to reconnect.
    const restarted = await startRunPlatform({ db, clock })
    await reap(restarted, passesBeforeVerdict - 1)
    assert.equal((await platform.row(run.execution_id)).status, 'running')
    const { acked, drop } = await hello(restarted, [{ ...hold(run), state: 'finished', last_line: 4 }])
    assert.deepEqual([acked, drop], [{ [run.execution_id]: 0 }, []])
    await reap(restarted)
    assert.deepEqual(await on.result(linked, resultOf(run)), { accepted: true })
    assert.equal((await platform.row(run.execution_id)).status, 'success')
  })

  test('a clock jump ends no run: the next heartbeat keeps it', async () => {
    const { platform, clock } = await start()
    const run = await spawned(platform)
    linkUp(platform)
    await clock.advance(7200)
    await reap(platform, 1)
    await platform.dispatch.beat('a1', { executions: [{ execution_id: run.execution_id }] })
    await reap(platform)
    assert.equal((await platform.row(run.execution_id)).status, 'running')
  })

  test('lines renew the lease like heartbeats', async () => {
    const { platform, clock, on } = await start()
    const run = await spawned(platform)
    linkUp(platform)
    for (let from = 1; from <= 5; from += 1) {
      await clock.advance(50)
      await on.lines(linked, { t: 'lines', ...hold(run), from, lines: [line] })
      await reap(platform)
    }
    assert.equal((await platform.row(run.execution_id)).status, 'running')
  })

  test('a result after the verdict only adds a note', async () => {
    const { platform, clock, on } = await start()
    const run = await spawned(platform)
    await clock.advance(900)
    await reap(platform)
    assert.equal((await platform.row(run.execution_id)).error_code, 'lease_expired')
    const { acked, drop } = await hello(platform, [{ ...hold(run), state: 'finished', last_line: 7 }])
    // Its lines are no longer requested, but its result is.
    assert.deepEqual([acked, drop], [{ [run.execution_id]: 7 }, []])
    assert.deepEqual(await on.result(linked, resultOf(run, { response: 'too late' })), {
      accepted: false,
      reason: 'already_final',
    })
    const row = await platform.row(run.execution_id)
    assert.deepEqual([row.status, row.error_code, row.response], ['failed', 'lease_expired', null])
    const log = await transcriptStore(platform.db).all(run.execution_id)
    assert.match(JSON.stringify(log), /ended as failed: success\. too late/)
  })

  test('concurrent verdicts and results: each run ends once, by the first of them', async () => {
    const { platform, clock, on } = await start()
    platform.agents.set('a1', agentFact({ effective_slots: 20 }))
    const runs = []
    for (let each = 0; each < 20; each += 1) runs.push(await spawned(platform))
    let ended = 0
    platform.hooks.onEnded(async (tx) => tx.onCommitted(() => (ended += 1)))
    await clock.advance(900)
    await reap(platform, passesBeforeVerdict - 1)
    const [answers] = await Promise.all([
      Promise.all(runs.toReversed().map((run) => on.result(linked, resultOf(run)))),
      reap(platform, 1),
    ])
    assert.equal(ended, 20)
    for (const [index, run] of runs.toReversed().entries()) {
      const { status } = await platform.row(run.execution_id)
      assert.equal(status, answers[index]?.accepted ? 'success' : 'failed')
    }
  })

  test('many runs without a verdict do not delay the verdict of others', async () => {
    const { platform, clock } = await start({ queueDepth: 300 })
    platform.agents.set('a1', agentFact({ effective_slots: 300 }))
    for (let each = 0; each < 210; each += 1) await accept(platform)
    for (;;) if ((await claim(platform, 300)).length === 0) break
    await clock.advance(1)
    platform.agents.set('a2', agentFact({ id: 'a2' }))
    const row = await accept(platform, { agentId: 'a2' })
    await platform.dispatch.handlers.claim({ ...linked, agentId: 'a2' }, { t: 'claim', free: 1 })
    linkUp(platform, 'a2')
    await clock.advance(61)
    await reap(platform)
    assert.equal((await platform.row(row.id)).status, 'queued')
  })
})

function hold({ execution_id, claim_token }: { execution_id: string; claim_token: number }) {
  return { execution_id, claim_token }
}

function linkUp(platform: RunPlatform, agentId = 'a1'): void {
  // These tests start the platform with the fake link.
  const link = platform.link as FakeAgentLink
  link.link(agentId)
}

async function loop(platform: RunPlatform, name: string): Promise<void> {
  await platform.dispatch.loops.find((each) => each.name === name)?.run(never)
}
/** The number of passes before a verdict, by default. */
async function reap(platform: RunPlatform, passes = passesBeforeVerdict): Promise<void> {
  for (let pass = 0; pass < passes; pass += 1) await loop(platform, 'runs.leases')
}
const expire = (platform: RunPlatform) => loop(platform, 'runs.expire')
