import type { AgentSettings, HeldRun } from '@roost/contracts/link/messages'
import type { CancelAnswer, Run } from '@roost/contracts/link/runs'
import type { Clock } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import { type Link, LinkDown } from '../link/link.ts'
import type { RunSpool } from '../spool/run-spool.ts'
import type { Spool } from '../spool/spool.ts'
import type { Activity } from './activity.ts'
import type { Execution } from './execution.ts'
import { lostResult, restartedMessage, stoppedMessage } from './result.ts'

/** The runs of this agent: claimed while slots are free, kept until the platform has their results. */
export type Runs = {
  /** Claims runs, because work may be waiting. */
  claim(): void
  /** Allows claims; none are made before. */
  ready(): void
  held(): HeldRun[]
  /** After a hello: drops the runs in `drop` and sends the rest after their acknowledged lines. */
  resume(acked: Record<string, number>, drop: string[]): void
  cancel(executionId: string, claimToken: number, graceMs: number): Promise<CancelAnswer>
  forget(executionId: string): void
  /** Activities of all runs that the platform waits for. */
  activities(): ({ execution_id: string } & Activity)[]
  active(): number
  /** Stops every runtime, and reports its run as lost. What the platform does not get now, the next start sends. */
  close(graceMs: number): Promise<void>
}

export type RunsDeps = {
  link: Pick<Link, 'call' | 'isUp'>
  spool: Spool
  clock: Clock
  log: Log
  settings(): AgentSettings
  /** The turn starts once `after` has settled. */
  start(run: Run, spool: RunSpool, after: Promise<void> | null): Execution
  kick(spool: RunSpool): void
  /** See `Delivery.settled`. */
  delivered(): Promise<void>
  /** Called when the last run has ended. */
  onIdle(): void
}

const retryMs = 2000
/** Time for the platform to accept lost runs. */
const reportMs = 3000

export function createRuns(deps: RunsDeps): Runs {
  const { link, spool, log } = deps
  const executions = new Map<string, Execution>()
  /** Abandoned executions whose processes are still ending. */
  const ending = new Set<Execution>()
  let isReady = false
  let isClosing = false
  let isClaiming = false
  let shouldClaim = false

  // Runs of an earlier process. The next hello does not list those that never started, so the platform queues them.
  for (const run of spool.all()) if (run.state() === 'accepted') run.remove()
  endSpawned(restartedMessage)

  /** Returns the runs that it ended as lost. */
  function endSpawned(message: string): RunSpool[] {
    const spawned = spool.all().filter((run) => run.state() === 'spawned')
    for (const run of spawned) {
      run.append([{ type: 'error', error: 'agent_lost', message, retryable: true }])
      run.finish(lostResult(run, message))
    }
    return spawned
  }

  function atMost(ms: number, work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = deps.clock.after(ms, resolve)
    void work.then(resolve).finally(cancel)
    return promise
  }

  function free(): number {
    return Math.max(0, deps.settings().parallel_limit - executions.size)
  }

  async function claim(): Promise<void> {
    shouldClaim = true
    if (isClaiming) return
    isClaiming = true
    try {
      while (shouldClaim && isReady && !isClosing && link.isUp() && free() > 0) {
        shouldClaim = false
        const requested = free()
        const { runs } = await link.call('claim', { free: requested })
        for (const run of runs) accept(run)
        // A full answer may mean that more runs are waiting.
        if (runs.length >= requested) shouldClaim = true
      }
    } catch (fault) {
      // After a broken link the next hello triggers a claim.
      if (!(fault instanceof LinkDown)) {
        log.warn('claim failed', { reason: faultText(fault) })
        deps.clock.after(retryMs, () => void claim())
      }
    } finally {
      isClaiming = false
    }
  }

  function accept(run: Run) {
    const known = spool.get(run.execution_id)
    // A duplicate: the answer to an earlier claim was lost.
    if (known && known.claimToken >= run.claim_token) return
    abandon(run.execution_id)
    const opened = spool.open({
      executionId: run.execution_id,
      claimToken: run.claim_token,
      kind: run.kind,
    })
    const execution = deps.start(run, opened, predecessor(run))
    executions.set(run.execution_id, execution)
    void execution.done.then(() => {
      if (executions.get(run.execution_id) === execution) executions.delete(run.execution_id)
      if (executions.size === 0) deps.onIdle()
      void claim()
    })
  }

  /** Turns of one conversation run one after another. */
  function predecessor(run: Run): Promise<void> | null {
    if (run.session_id === null) return null
    const others = [...executions.values(), ...ending].filter(
      (other) => other.run.session_id === run.session_id,
    )
    return others.length === 0 ? null : Promise.all(others.map(({ done }) => done)).then(() => {})
  }

  function abandon(executionId: string) {
    const execution = executions.get(executionId)
    if (!execution) return
    executions.delete(executionId)
    ending.add(execution)
    execution.abandon(0)
    void execution.done.then(() => ending.delete(execution))
  }

  return {
    claim: () => void claim(),
    ready() {
      isReady = true
      void claim()
    },
    held: () =>
      spool.all().map((run) => ({
        execution_id: run.executionId,
        claim_token: run.claimToken,
        state: run.state(),
        last_line: run.lastLine(),
      })),
    resume(acked, drop) {
      for (const id of drop) {
        spool.get(id)?.remove()
        abandon(id)
      }
      for (const run of spool.all()) {
        run.ack(acked[run.executionId] ?? 0)
        deps.kick(run)
      }
      void claim()
    },
    async cancel(executionId, claimToken, graceMs) {
      const known = spool.get(executionId)
      if (!known || known.claimToken !== claimToken) return { state: 'unknown' }
      const execution = executions.get(executionId)
      return execution ? await execution.cancel(graceMs) : { state: 'finished' }
    },
    forget: abandon,
    activities: () =>
      spool.all().map(({ executionId }) => ({
        execution_id: executionId,
        ...executions.get(executionId)?.activity(),
      })),
    active: () => executions.size,
    async close(graceMs) {
      isClosing = true
      const running = [...executions.values(), ...ending]
      for (const execution of running) execution.abandon(graceMs)
      // Before the runtimes have ended, because an eviction may leave only two seconds.
      for (const run of endSpawned(stoppedMessage)) deps.kick(run)
      await Promise.all([...running.map(({ done }) => done), atMost(reportMs, deps.delivered())])
    },
  }
}
