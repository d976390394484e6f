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
  platform: Pick<Platform, 'fire' | 'fireTogether'>
  /** A run was made; it is looked at until it has ended. */
  made(executionId: string): void
}

/** A fire that was claimed. */
export type ClaimedFire = DueFire & { agent_id: string }
type Reply = ExecuteTaskReply | ExecuteTasksReply['results'][number]

const longestPauseSeconds = 30

/**
 * Hands claimed fires to the platform, again and again until each is decided or out of its grace. What is given
 * up because this scheduler stops or does not lead any more stays claimed: the next leader finds it.
 */
export function createDeliver({ db, clock, log, platform, made }: DeliverDeps) {
  /** True: nothing is left to do. */
  async function attempt(due: ClaimedFire, signal: AbortSignal): Promise<boolean> {
    // Claimed before the platform was away for long.
    if (isPastGrace(due)) return miss(due, 'outside_grace')
    try {
      return await heard(due, await platform.fire(due, signal))
    } catch (error) {
      if (signal.aborted) return true
      return failed(due, error)
    }
  }

  async function heard(due: ClaimedFire, reply: Reply): Promise<boolean> {
    if (reply.status === 'refused' && 'http_status' in reply) {
      return failed(due, new Refused(reply.http_status, reply.error))
    }
    if (reply.status === 'accepted') made(reply.execution_id)
    return true
  }

  async function failed(due: ClaimedFire, error: unknown): Promise<boolean> {
    log.warn({ ...due, err: error }, 'a fire could not be handed over')
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

  /** Answers those that something is left to do for. A step that fails is told, and comes again. */
  async function undone(
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
    // One, or what is late: each by itself.
    if (timely.length < 2) return undone(dues, (due) => attempt(due, signal))
    const late = await undone(dues.filter(isPastGrace), (due) => attempt(due, signal))
    return [...late, ...(await attemptTogether(timely, signal))]
  }

  async function attemptTogether(dues: readonly ClaimedFire[], signal: AbortSignal): Promise<ClaimedFire[]> {
    try {
      const { results } = await platform.fireTogether(dues, signal)
      return await undone(dues, async (due, index) => {
        const reply = results[index]
        return reply ? heard(due, reply) : false
      })
    } catch (error) {
      if (signal.aborted) return []
      log.warn({ fires: dues.length, err: error }, 'fires could not be handed over together')
      // What it refuses of one must not be refused of all.
      if (error instanceof Refused && isRefusal(error)) return undone(dues, (due) => attempt(due, signal))
      return dues.slice()
    }
  }

  return async function handOver(dues: readonly ClaimedFire[], signal: AbortSignal): Promise<void> {
    let left = dues
    for (let pause = 1; !signal.aborted; pause = Math.min(2 * pause, longestPauseSeconds)) {
      left = await attemptAll(left, signal)
      if (left.length === 0) return
      await clock.wait(pause * 1000, signal)
    }
  }
}

/** An answer that would be the same again. */
function isRefusal({ status }: Refused): boolean {
  return status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status)
}
