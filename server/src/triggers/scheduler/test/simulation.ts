import type { ScheduleChange } from '@roost/contracts/triggers/firing'
import { timestamp } from '../../../kit/clock.ts'
import { createScheduleTimes } from '../../../kit/schedule-times.ts'
import type { Db } from '../../../ports/database/port.ts'
import { type Log, silentLog } from '../../../ports/log.ts'
import { createTestClock } from '../../../test/clock.ts'
import { fireStore } from '../../fires/index.ts'
import type { DueFire, Platform } from '../platform.ts'
import { createTick, type Tick } from '../tick.ts'

export type Simulation = ReturnType<typeof startSimulation>

/** Schedulers on a real table of fires, with a test clock and seeded chance. */
export function startSimulation(
  db: Db,
  options: { zone: string; crons: readonly string[]; start: Date; seed: number; log?: Log },
) {
  const { zone, crons, start, log = silentLog } = options
  const clock = createTestClock(timestamp(start))
  const times = createScheduleTimes()
  const chance = createChance(options.seed)
  const made = new Map<string, number>()
  const schedules = crons.map(
    (cron_expression, index): ScheduleChange => ({
      id: `s${index}`,
      agent_id: 'a1',
      agent_name: 'scout',
      name: cron_expression,
      cron_expression,
      timezone: zone,
      misfire_policy: 'run_once',
      armed_at: timestamp(start),
      active: true,
      position: index + 1,
    }),
  )
  let mode: 'up' | 'silent' | 'lost' | 'down' = 'up'
  let leader: { tick: Tick; stop: AbortController } | null = null

  const single = {
    changes: async (after: number) => ({
      position: Math.max(after, schedules.length),
      schedules: schedules.filter(({ position }) => position > after),
    }),
    /** Decides like the API, by one conditional write. */
    async fire({ schedule_id, due_at }: DueFire, signal: AbortSignal) {
      if (mode === 'down') throw new Error('the platform is down')
      if (mode === 'silent') {
        signal.throwIfAborted()
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }
      const execution_id = `${schedule_id} ${due_at}`
      const decision = {
        outcome: 'fired',
        reason: null,
        execution_id,
        recorded_at: timestamp(clock.now()),
      } as const
      const due = { schedule_id, due_at, agent_id: 'a1' }
      if (await fireStore(db).decide(due, decision)) made.set(execution_id, (made.get(execution_id) ?? 0) + 1)
      if (mode === 'lost') throw new Error('the answer was lost')
      return { status: 'accepted' as const, execution_id, async_mode: true as const }
    },
  }

  const together = eachBy(single.fire)
  const platform = {
    ...single,
    rehearse: async () => {},
    /** Like the API, holds fires until they are due. */
    async fireAll(dues: readonly DueFire[], signal: AbortSignal) {
      const early = Math.max(...dues.map(({ due_at }) => Date.parse(due_at))) - clock.now().getTime()
      if (early > 0) await clock.wait(early)
      return together(dues, signal)
    },
  }

  async function takeOver(): Promise<{ tick: Tick; stop: AbortController }> {
    const stop = new AbortController()
    const signal = stop.signal
    const tick = createTick({ db, clock, log, platform, times, started() {}, signal, minAhead: 2 })
    await tick.begin()
    return { tick, stop }
  }

  function present() {
    if (!leader) throw new Error('There is no leader.')
    return leader
  }

  async function fireDue(): Promise<void> {
    await present().tick.fireDue()
    await present().tick.delivered()
  }

  return {
    ...{ db, clock, chance, schedules, made, fireDue },
    nextAt: () => present().tick.nextAt(),
    delivered: () => present().tick.delivered(),
    claimDue: () => present().tick.fireDue(),
    claimAhead: () => present().tick.claimAhead(),
    readChanges: () => present().tick.readChanges(),
    async sendForgotten(): Promise<void> {
      await present().tick.sendForgotten()
      await present().tick.delivered()
    },

    /** Starts a scheduler, which first delivers open fires. */
    async begin(): Promise<void> {
      leader = await takeOver()
      if (mode !== 'down') await fireDue()
    },
    kill(): void {
      present().stop.abort()
    },
    async killBetweenClaimAndDelivery(): Promise<void> {
      mode = 'silent'
      await present().tick.fireDue()
      present().stop.abort()
      await present().tick.delivered()
      mode = 'up'
    },
    /** The API works, and its answers are lost. */
    async loseAnswers(): Promise<void> {
      mode = 'lost'
      await present().tick.fireDue()
      const over = present().tick.delivered()
      const isOver = () => Promise.race([over.then(() => true), clock.waitingFor(1).then(() => false)])
      // The fires are retried a second later.
      while (!(await isOver())) {
        mode = 'up'
        await clock.advance(1)
      }
      mode = 'up'
    },
    /** A paused leader returns after another has taken over, and both fire concurrently. */
    async secondLeader(): Promise<void> {
      const old = present()
      leader = await takeOver()
      await Promise.all([old.tick.fireDue(), leader.tick.fireDue()])
      await Promise.all([old.tick.delivered(), leader.tick.delivered()])
      old.stop.abort()
    },
    down(): void {
      mode = 'down'
    },
  }
}

/** Reproducible integers from 0 to below `below`. */
function createChance(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Handles each fire of a group like a single one. */
export function eachBy(fire: Platform['fire']): Platform['fireAll'] {
  return async (dues, signal) => {
    const replies = await Promise.all(dues.map((due) => fire(due, signal)))
    const results = replies.map((reply) => {
      if ('async_mode' in reply || 'reason' in reply) return reply
      throw new Error('An asynchronous fire has no end.')
    })
    return { results }
  }
}
