import type { Tx } from '../../ports/database/port.ts'
import type { LockedQueues } from '../../runs/dispatch/index.ts'
import { fireStore, keyOf, runAndRollBack, scheduleRunStore } from '../fires/index.ts'
import type { ByClock } from './by-clock.ts'
import { type Choice, decisionOf, entryOf, eventsOf, firedOf, hasRecord } from './choice.ts'
import type { Fired } from './decided.ts'
import type { FireTogetherDeps } from './deps.ts'
import { skipped } from './rules.ts'

type Outcome = Choice | 'alone'

/**
 * Decides and records fires in one transaction, with a handful of statements however many they are. One that is out
 * of the ordinary is left out and carried out by itself: that of an agent whose breaker has to be asked, and the
 * second of two that concern each other. When the transaction fails, each is carried out by itself.
 */
export function createCommitTogether(
  { db, clock, log, events, dispatch }: FireTogetherDeps,
  { carryOut, decidedBefore, requestOf }: Pick<ByClock, 'carryOut' | 'decidedBefore' | 'requestOf'>,
) {
  /** Asked while the queues are held, as for a fire by itself. */
  function judge(
    choices: readonly Choice[],
    free: LockedQueues['free'],
    active: ReadonlySet<string>,
  ): Outcome[] {
    const seen = new Set<string>()
    const judgeOne = (choice: Choice): Outcome => {
      const { schedule, isCatchUp, key } = choice.due
      const [time, own] = [keyOf(key), schedule.id]
      if (seen.has(time) || (!isCatchUp && seen.has(own))) return 'alone'
      seen.add(time)
      if ('gate' in choice || choice.refusal) return choice
      if (!free.has(schedule.agent_id)) return 'alone'
      if (!isCatchUp && active.has(own)) {
        return { due: choice.due, fact: choice.fact, gate: skipped('previous_run_active') }
      }
      seen.add(own)
      return choice
    }
    return choices.map(judgeOne)
  }

  async function write(
    tx: Tx,
    choices: readonly Choice[],
  ): Promise<{ outcomes: Outcome[]; won: Set<string> }> {
    const agentIds = new Set(choices.map(({ due }) => due.schedule.agent_id))
    // Sent together: what is active is looked for once the queues are held.
    const [held, active] = await Promise.all([
      dispatch.lockQueues(tx, countsOf(choices.filter(hasRecord))),
      scheduleRunStore(tx).activeOf([...agentIds]),
    ])
    const now = clock.now()
    const outcomes = judge(choices, held.free, active)
    const decided = outcomes.filter((outcome) => outcome !== 'alone')
    const rows = decided.map((choice) => ({ ...choice.due.key, ...decisionOf(choice, now) }))
    const won = new Set((await fireStore(tx).decideAll(rows)).map(keyOf))
    const recorded = decided.filter((choice) => won.has(keyOf(choice.due.key))).filter(hasRecord)
    const runs = held.insertAll(
      recorded.map((choice) => entryOf(choice, requestOf)),
      now,
    )
    const told = runs.flatMap((row, index) => {
      const choice = recorded[index]
      return choice ? eventsOf(choice, row) : []
    })
    events.appendAll(tx, told, now)
    return { outcomes, won }
  }

  async function together(choices: readonly Choice[]): Promise<PromiseSettledResult<Fired>[]> {
    const [only, ...more] = choices
    if (only && more.length === 0) return Promise.allSettled([carryOut(only)])
    try {
      const { outcomes, won } = await db.atomically((tx) => write(tx, choices))
      return await Promise.allSettled(
        choices.map((choice, index) => {
          const outcome = outcomes[index] ?? 'alone'
          if (outcome === 'alone') return carryOut(choice)
          return won.has(keyOf(choice.due.key)) ? firedOf(outcome) : decidedBefore(choice.due.key)
        }),
      )
    } catch (error) {
      log.warn(
        { err: error, fires: choices.length },
        'fires could not be recorded together; each is by itself',
      )
      return Promise.allSettled(choices.map(carryOut))
    }
  }

  /** The same without the end: nothing is kept, and nobody is woken. */
  const rehearse = (choices: readonly Choice[]) => runAndRollBack(db, (tx) => write(tx, choices))

  return { together, rehearse }
}

function countsOf(choices: readonly Choice[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { due } of choices) {
    counts.set(due.schedule.agent_id, (counts.get(due.schedule.agent_id) ?? 0) + 1)
  }
  return counts
}
