import type { AgentSettings, HeldRun } from '@roost/contracts/link/messages'
import type { CancelAnswer, Run } from '@roost/contracts/link/runs'
import type { Clock } from '../kit/clock.ts'
import { faultText, type Log } from '../kit/log.ts'
import { type Link, LinkDown } from '../link/link.ts'
import type { RunSpool } from '../spool/run-spool.ts'
import type { Spool } from '../spool/spool.ts'
import type { Activity } from './activity.ts'
import type { Execution } from './execution.ts'
import { lostMessage, lostResult } from './result.ts'

/** The runs of this agent: claimed while there are free slots, held until the platform has their result. */
export type Runs = {
  /** Work is waiting, or may be. */
  claim(): void
  /** Nothing is claimed before. */
  ready(): void
  held(): HeldRun[]
  /** After a hello: forget what is not ours any more, and go on with the rest. */
  resume(acked: Record<string, number>, drop: string[]): void
  cancel(executionId: string, claimToken: number, graceMs: number): Promise<CancelAnswer>
  forget(executionId: string): void
  /** Every run of which the platform awaits news, with what it is doing. */
  activities(): ({ execution_id: string } & Activity)[]
  active(): number
  /** The program ends: every runtime is stopped, and its next life reports the runs as lost. */
  close(graceMs: number): Promise<void>
}

export type RunsDeps = {
  link: Pick<Link, 'call' | 'isUp'>
  spool: Spool
  clock: Clock
  log: Log
  settings(): AgentSettings
  /** The turn begins once `after` has settled. */
  start(run: Run, spool: RunSpool, after: Promise<void> | null): Execution
  kick(spool: RunSpool): void
  /** The last run has ended. */
  onIdle(): void
}

const retryMs = 2000

export function createRuns(deps: RunsDeps): Runs {
  const { link, spool, log } = deps
  const executions = new Map<string, Execution>()
  /** Given up, and their processes not gone yet. */
  const ending = new Set<Execution>()
  let isReady = false
  let isClosing = false
  let isClaiming = false
  let isWanted = false

  reportLost()

  /**
   * Runs of an earlier life: their runtimes died with it. One that was never spawned is only forgotten, and
   * the platform, which does not hear of it in the hello, hands it out again.
   */
  function reportLost() {
    for (const run of spool.all()) {
      if (run.state() === 'accepted') run.remove()
      if (run.state() !== 'spawned') continue
      run.append([{ type: 'error', error: 'agent_lost', message: lostMessage, retryable: true }])
      run.finish(lostResult(run))
    }
  }

  function free(): number {
    return Math.max(0, deps.settings().parallel_limit - executions.size)
  }

  async function claim(): Promise<void> {
    isWanted = true
    if (isClaiming) return
    isClaiming = true
    try {
      while (isWanted && isReady && !isClosing && link.isUp() && free() > 0) {
        isWanted = false
        const asked = free()
        const { runs } = await link.call('claim', { free: asked })
        for (const run of runs) accept(run)
        // As much as was asked for may not be all there is.
        if (runs.length >= asked) isWanted = true
      }
    } catch (fault) {
      // After a break of the link the next hello claims again.
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
    // Told twice: the answer to an earlier claim was lost on the way.
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

  /** Turns of one conversation follow each other. */
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
      await Promise.all(running.map(({ done }) => done))
    },
  }
}
