import type { ExecuteTaskReply, ExecuteTasksReply } from '@roost/contracts/triggers/firing'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { fireStore } from '../fires/index.ts'
import { type DueFire, type Platform, Refused } from './platform.ts'
import { graceSeconds } from './rules.ts'

export type DeliverDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  platform: Pick<Platform, 'fire' | 'fireAll'>
  /** Called with each new run, which is watched until it ends. */
  started(executionId: string): void
}

/** A claimed fire. */
export type ClaimedFire = DueFire & { agent_id: string }
type Reply = ExecuteTaskReply | ExecuteTasksReply['results'][number]

const maxPauseSeconds = 30

/**
 * Delivers claimed fires to the platform, with retries until each is decided or past its grace. When this scheduler
 * stops or loses the lead, undelivered fires stay claimed, and the next leader delivers them.
 */
export function createDeliver({ db, clock, log, platform, started }: DeliverDeps) {
  /** True if nothing is left to do. */
  async function attempt(due: ClaimedFire, signal: AbortSignal): Promise<boolean> {
    // Claimed before a long outage of the platform.
    if (isPastGrace(due)) return miss(due, 'outside_grace')
    try {
      return await received(due, await platform.fire(due, signal))
    } catch (error) {
      if (signal.aborted) return true
      return failed(due, error)
    }
  }

  async function received(due: ClaimedFire, reply: Reply): Promise<boolean> {
    if (reply.status === 'refused' && 'http_status' in reply) {
      return failed(due, new Refused(reply.http_status, reply.error))
    }
    if (reply.status === 'accepted') started(reply.execution_id)
    return true
  }

  async function failed(due: ClaimedFire, error: unknown): Promise<boolean> {
    log.warn({ ...due, err: error }, 'a fire could not be delivered')
    if (error instanceof Refused && isRefusal(error)) return miss(due, `refused: ${error.code}`)
    return isPastGrace(due) ? miss(due, 'platform_unreachable') : false
  }

  async function miss(due: ClaimedFire, reason: string): Promise<true> {
    const { schedule_id, due_at, agent_id } = due
    const decision = { outcome: 'missed', reason, execution_id: null } as const
    await fireStore(db).decide(
      { schedule_id, due_at, agent_id },
      { ...decision, recorded_at: timestamp(clock.now()) },
    )
    log.error({ ...due, reason }, 'a fire was missed')
    return true
  }

  function isPastGrace({ due_at }: DueFire): boolean {
    return due_at < timestamp(secondsLater(clock.now(), -graceSeconds))
  }

  /** Runs the step for each fire and returns the unfinished ones. A failed step is logged and repeated. */
  async function unfinished(
    dues: readonly ClaimedFire[],
    step: (due: ClaimedFire, index: number) => Promise<boolean>,
  ): Promise<ClaimedFire[]> {
    const done = await Promise.all(
      dues.map((due, index) =>
        step(due, index).catch((error: unknown) => {
          log.warn({ ...due, err: error }, 'a missed fire could not be recorded yet')
          return false
        }),
      ),
    )
    return dues.filter((_, index) => !done[index])
  }

  async function attemptAll(dues: readonly ClaimedFire[], signal: AbortSignal): Promise<ClaimedFire[]> {
    const timely = dues.filter((due) => !isPastGrace(due))
    // A single fire, and each late one, is sent alone.
    if (timely.length < 2) return unfinished(dues, (due) => attempt(due, signal))
    const late = await unfinished(dues.filter(isPastGrace), (due) => attempt(due, signal))
    return [...late, ...(await attemptBatch(timely, signal))]
  }

  async function attemptBatch(dues: readonly ClaimedFire[], signal: AbortSignal): Promise<ClaimedFire[]> {
    try {
      const { results } = await platform.fireAll(dues, signal)
      return await unfinished(dues, async (due, index) => {
        const reply = results[index]
        return reply ? received(due, reply) : false
      })
    } catch (error) {
      if (signal.aborted) return []
      log.warn({ fires: dues.length, err: error }, 'fires could not be delivered together')
      // One refused fire must not refuse the others.
      if (error instanceof Refused && isRefusal(error)) return unfinished(dues, (due) => attempt(due, signal))
      return dues.slice()
    }
  }

  return async function deliver(dues: readonly ClaimedFire[], signal: AbortSignal): Promise<void> {
    let left = dues
    for (let pause = 1; !signal.aborted; pause = Math.min(2 * pause, maxPauseSeconds)) {
      left = await attemptAll(left, signal)
      if (left.length === 0) return
      await clock.wait(pause * 1000, signal)
    }
  }
}

/** Whether a repetition would get the same answer. */
function isRefusal({ status }: Refused): boolean {
  return status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status)
}
