import { type BatchEntry, createBatches } from '../../kit/batches.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { LockedQueues } from '../../runs/dispatch/index.ts'
import { fireStore, keyOf, runAndRollBack } from '../fires/index.ts'
import {
  type Choice,
  closed,
  decidedFire,
  decisionOf,
  eventsOf,
  type Fired,
  firedOf,
  isOpen,
} from './choice.ts'
import type { FireDeps } from './deps.ts'
import { previousRunGate, skipped } from './rules.ts'

/** A larger batch delays its first fires; from a hundred fires on, a fire costs half as much as alone. */
export const maxPerBatch = 260
/** While the transaction of one lane commits, the other lane writes. */
export const lanes = 2

type Item = { choice: Choice; order: number }
/** `decided`: another transaction or a duplicate fire decides it. `alone`: needs a batch of its own. */
type Outcome = Choice | 'decided' | 'alone'

/** The breaker admitted a run as its probe, but the fire was decided before: nothing may be committed. */
class UnusedProbe extends Error {}

/**
 * Decides and records fires of the clock: a batch of one or many is one transaction with the same few statements.
 * If a batch fails, each fire is repeated in a batch of its own.
 */
export function createRecord({ db, clock, log, events, dispatch, fireLateness }: FireDeps) {
  /** Repeats the gates that concurrent fires can close, while the queues are locked. */
  async function judge(choices: readonly Choice[], queues: LockedQueues) {
    const outcomes: Outcome[] = []
    const keys = new Set<string>()
    const started = new Set<string>()
    const probes = new Set<string>()

    async function judgeOne(choice: Choice): Promise<Outcome> {
      const { schedule, key, isCatchUp, executionId } = choice.fire
      if (keys.has(keyOf(key))) return 'decided'
      keys.add(keyOf(key))
      if (!isOpen(choice)) return choice
      const isPreviousActive = queues.activeSchedules.has(schedule.id)
      const gate = previousRunGate({ isCatchUp, isPreviousActive })
      if (gate) return closed(choice, gate)
      if (!isCatchUp && started.has(schedule.id)) return 'alone'
      const admission = await queues.admit(choice.entry.agent, executionId)
      if (admission === 'refused') return closed(choice, skipped('circuit_open'))
      if (admission === 'probe') probes.add(keyOf(key))
      started.add(schedule.id)
      return choice
    }

    for (const choice of choices) outcomes.push(await judgeOne(choice))
    return { outcomes, probes }
  }

  async function write(tx: Tx, choices: readonly Choice[]): Promise<Outcome[]> {
    const queues = await dispatch.lockQueues(tx, countsOf(choices))
    const now = clock.now()
    const { outcomes, probes } = await judge(choices, queues)
    const judged = outcomes.filter((outcome) => typeof outcome !== 'string')
    const rows = judged.map((choice) => ({ ...choice.fire.key, ...decisionOf(choice, now) }))
    const won = new Set((await fireStore(tx).decideAll(rows)).map(keyOf))
    if ([...probes].some((key) => !won.has(key))) throw new UnusedProbe()
    const recorded = judged.flatMap((choice) =>
      choice.entry && won.has(keyOf(choice.fire.key)) ? [{ choice, entry: choice.entry }] : [],
    )
    const runs = queues.insertAll(
      recorded.map(({ entry }) => entry),
      now,
    )
    const scheduleEvents = runs.flatMap((row, index) => {
      const choice = recorded[index]?.choice
      return choice ? eventsOf(choice, row) : []
    })
    events.appendAll(tx, scheduleEvents, now)
    return outcomes.map((outcome) =>
      typeof outcome === 'string' || won.has(keyOf(outcome.fire.key)) ? outcome : 'decided',
    )
  }

  async function commit(choices: readonly Choice[]): Promise<Outcome[]> {
    try {
      return await db.atomically((tx) => write(tx, choices))
    } catch (error) {
      if (error instanceof UnusedProbe && choices.length === 1) return ['decided']
      if (choices.length > 1) {
        log.warn(
          { err: error, fires: choices.length },
          'fires could not be recorded together; each is recorded alone',
        )
      }
      throw error
    }
  }

  async function run(entries: readonly BatchEntry<Item, Fired>[]): Promise<void> {
    const outcomes = await commit(entries.map(({ item }) => item.choice))
    const now = clock.now().getTime()
    const left = entries.filter(({ resolve }, index) => {
      const outcome = outcomes[index]
      if (outcome === undefined || typeof outcome === 'string') return true
      const { key, isCatchUp } = outcome.fire
      if (!isCatchUp) fireLateness(Math.max(0, now - Date.parse(key.due_at)) / 1000)
      resolve(firedOf(outcome))
      return false
    })
    for (const entry of left) {
      const isAlone = outcomes[entries.indexOf(entry)] === 'alone'
      const again = isAlone ? run([entry]) : decidedBefore(entry.item.choice).then(entry.resolve)
      await again.catch(entry.reject)
    }
  }

  /** Throws `conflict` while another transaction decides it. */
  async function decidedBefore({ fire }: Choice): Promise<Fired> {
    const row = await fireStore(db).find(fire.key)
    const fired = row && decidedFire(row)
    if (fired) return fired
    throw new Fault('conflict', 'The fire is being decided.')
  }

  // An agent has one lane, so concurrent transactions lock queues of different agents.
  const batches = Array.from({ length: lanes }, () =>
    createBatches<Item, Fired>({
      run,
      maxItems: maxPerBatch,
      keyOf: ({ choice }) => choice.fire.schedule.agent_id,
      compare: (one, other) => one.order - other.order,
      repeatsAlone: () => true,
    }),
  )

  return {
    /** `order` is the position among all fires; lower ones are recorded first. */
    record(choice: Choice, order: number): Promise<Fired> {
      const add = batches[sumOf(choice.fire.schedule.agent_id) % lanes]
      if (!add) throw new Error('There is no such lane.')
      return add({ choice, order })
    },

    /** Writes without a commit: nothing is stored, and no agent is woken. */
    rehearse: (choices: readonly Choice[]) => runAndRollBack(db, (tx) => write(tx, choices)),
  }
}

/** Sums all characters, because the last one of a 128-bit id has only four values. */
function sumOf(key: string): number {
  return Array.from(key).reduce((sum, character) => sum + character.charCodeAt(0), 0)
}

/** Maximum number of new records per agent. */
function countsOf(choices: readonly Choice[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { fire, entry } of choices) {
    const { agent_id } = fire.schedule
    if (entry) counts.set(agent_id, (counts.get(agent_id) ?? 0) + 1)
  }
  return counts
}
