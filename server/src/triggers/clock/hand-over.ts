import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { fireStore } from '../firing/index.ts'
import { type DueFire, type Platform, Refused } from './platform.ts'
import { graceSeconds } from './rules.ts'

export type HandOverDeps = {
  db: Db
  clock: Clock
  log: Pick<Log, 'info' | 'warn' | 'error'>
  platform: Pick<Platform, 'fire'>
  /** A run was made; it is looked at until it has ended. */
  made(executionId: string): void
}

const longestPauseSeconds = 30

/**
 * Hands a claimed fire to the platform, again and again until it is decided or out of its grace. What is given
 * up because this scheduler stops or does not lead any more stays claimed: the next leader finds it.
 */
export function createHandOver({ db, clock, log, platform, made }: HandOverDeps) {
  /** True: nothing is left to do. */
  async function attempt(due: DueFire & { agent_id: string }, signal: AbortSignal): Promise<boolean> {
    // Claimed before the platform was away for long.
    if (isPastGrace(due)) return miss(due, 'outside_grace')
    try {
      const reply = await platform.fire(due, signal)
      if (reply.status === 'accepted') made(reply.execution_id)
      return true
    } catch (error) {
      if (signal.aborted) return true
      log.warn({ ...due, err: error }, 'a fire could not be handed over')
      if (error instanceof Refused && isRefusal(error)) return miss(due, `refused: ${error.code}`)
      return isPastGrace(due) ? miss(due, 'platform_unreachable') : false
    }
  }

  async function miss(due: DueFire & { agent_id: string }, reason: string): Promise<true> {
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

  return async function handOver(due: DueFire & { agent_id: string }, signal: AbortSignal): Promise<void> {
    for (let pause = 1; !signal.aborted; pause = Math.min(2 * pause, longestPauseSeconds)) {
      const isDone = await attempt(due, signal).catch((error: unknown) => {
        log.warn({ ...due, err: error }, 'a missed fire could not be recorded yet')
        return false
      })
      if (isDone) return
      await clock.wait(pause * 1000, signal)
    }
  }
}

/** An answer that would be the same again. */
function isRefusal({ status }: Refused): boolean {
  return status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status)
}
