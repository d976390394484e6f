import type { ScheduleChange } from '@roost/contracts/triggers/firing'
import { timestamp } from '../../../kit/clock.ts'
import type { Db } from '../../../ports/database/port.ts'
import { type Log, silentLog } from '../../../ports/log.ts'
import { createTestClock } from '../../../test/clock.ts'
import { fireStore } from '../../firing/index.ts'
import { createScheduleTimes } from '../../schedule-times/index.ts'
import type { DueFire } from '../platform.ts'
import { createTick, type Tick } from '../tick.ts'
import { eachBy } from './each.ts'

export type Simulation = ReturnType<typeof startSimulation>

/** Schedulers on a real table of fires, under a clock and with a chance that a test decides. */
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
  let leader: { round: Tick; stop: AbortController } | null = null

  const single = {
    changes: async (after: number) => ({
      position: Math.max(after, schedules.length),
      schedules: schedules.filter(({ position }) => position > after),
    }),
    /** As the API decides: one conditional write. */
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
    /** As the API does: what is not due yet is held. */
    async fireTogether(dues: readonly DueFire[], signal: AbortSignal) {
      const early = Math.max(...dues.map(({ due_at }) => Date.parse(due_at))) - clock.now().getTime()
      if (early > 0) await clock.wait(early)
      return together(dues, signal)
    },
  }

  async function takeOver(): Promise<{ round: Tick; stop: AbortController }> {
    const stop = new AbortController()
    const signal = stop.signal
    const round = createTick({ db, clock, log, platform, times, made() {}, signal, leastAhead: 2 })
    await round.begin()
    return { round, stop }
  }

  function present() {
    if (!leader) throw new Error('Nobody leads.')
    return leader
  }

  async function fireDue(): Promise<void> {
    await present().round.fireDue()
    await present().round.handedOver()
  }

  return {
    ...{ db, clock, chance, schedules, made, fireDue },
    nextAt: () => present().round.nextAt(),
    handedOver: () => present().round.handedOver(),
    claimDue: () => present().round.fireDue(),
    claimAhead: () => present().round.claimAhead(),
    follow: () => present().round.follow(),

    /** A scheduler starts, and first of all sees to what it finds. */
    async begin(): Promise<void> {
      leader = await takeOver()
      if (mode !== 'down') await fireDue()
    },
    kill(): void {
      present().stop.abort()
    },
    async killBetweenClaimAndHandOver(): Promise<void> {
      mode = 'silent'
      await present().round.fireDue()
      present().stop.abort()
      await present().round.handedOver()
      mode = 'up'
    },
    /** The API does what it is asked, and its answers do not arrive. */
    async loseAnswers(): Promise<void> {
      mode = 'lost'
      await present().round.fireDue()
      const over = present().round.handedOver()
      const isOver = () => Promise.race([over.then(() => true), clock.waitingFor(1).then(() => false)])
      // What was due is tried again a second later.
      while (!(await isOver())) {
        mode = 'up'
        await clock.advance(1)
      }
      mode = 'up'
    },
    /** A paused leader comes back after another one has taken over: both fire what is due, at once. */
    async secondLeader(): Promise<void> {
      const old = present()
      leader = await takeOver()
      await Promise.all([old.round.fireDue(), leader.round.fireDue()])
      await Promise.all([old.round.handedOver(), leader.round.handedOver()])
      old.stop.abort()
    },
    down(): void {
      mode = 'down'
    },
  }
}

/** The same chances for the same seed: whole numbers from 0 to below `below`. */
function createChance(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
