import { setImmediate as soon } from 'node:timers/promises'
import type { PreCheckAnswer } from '@roost/contracts/link/messages'
import { newId } from '../../kit/ids.ts'
import { type FireRow, fireStore, keyOf, scheduleRunStore } from '../fires/index.ts'
import type { Schedule } from '../schedules/index.ts'
import { createByClock } from './by-clock.ts'
import type { Due } from './choice.ts'
import { createCommitTogether } from './commit-together.ts'
import { decidedFire, type Fired } from './decided.ts'
import type { FireTogetherDeps } from './deps.ts'
import type { FireAsked } from './fire.ts'
import { createLines, mostTogether } from './line.ts'

const rehearsedTogether = 50
/** While one transaction is being committed, the next one is written. */
const lanes = 2
/** Without a pause for others: enough to fill the first transaction of each lane. */
const chosenTogether = lanes * mostTogether

/** A due time of the clock. */
export type DueAsked = { schedule: Schedule; dueAt: string }
/** What is known of due times: their rows, by key, and the schedules of their agents that have a run on its way. */
export type Records = { rows: ReadonlyMap<string, FireRow>; active: ReadonlySet<string> }

/**
 * Fires that are due at the same moment: what the gates ask is read for all of them at once, and they are recorded
 * together. Each goes through the gates as `fire` takes one, is recorded as soon as it can be, and fails by itself.
 * `fireTogether` answers in their order; `records` are what `recordsOf` gave for them.
 */
export function createFireTogether(
  deps: FireTogetherDeps & { fire(schedule: Schedule, asked: FireAsked): Promise<Fired> },
) {
  const { db } = deps
  const steps = createByClock(deps)
  let asked = 0
  const commit = createCommitTogether(deps, steps)
  // Always the same for an agent: transactions at the same time hold queues of different agents.
  const record = createLines(lanes, commit.together)

  /** Of the hook one is asked first: with none there, it is there for none of the others. */
  function createHooks() {
    const firsts = new Map<string, Promise<PreCheckAnswer | null>>()
    return async function ask(agentId: string): Promise<PreCheckAnswer | null> {
      const first = firsts.get(agentId)
      if (first) return (await first)?.hook_present ? steps.preCheck(agentId) : null
      const asked = steps.preCheck(agentId)
      firsts.set(agentId, asked)
      return asked
    }
  }

  async function recordsOf(dues: readonly DueAsked[]): Promise<Records> {
    const [rows, active] = await Promise.all([
      fireStore(db).findAll(dues.map(timeOf)),
      scheduleRunStore(db).activeOf(agentIdsOf(dues)),
    ])
    return { rows: new Map(rows.map((row) => [keyOf(row), row])), active }
  }

  /** What cannot be told of one agent fails its own fires only. */
  function agentsOf(dues: readonly DueAsked[]) {
    return new Map(agentIdsOf(dues).map((id) => [id, quiet(steps.knowOf(id))]))
  }

  function dueOf({ schedule, dueAt }: DueAsked, row: FireRow | undefined, active: ReadonlySet<string>): Due {
    const isCatchUp = row?.is_catch_up === 1
    return {
      schedule,
      key: { schedule_id: schedule.id, due_at: dueAt, agent_id: schedule.agent_id },
      executionId: newId(),
      isCatchUp,
      isPreviousActive: active.has(schedule.id) && !isCatchUp,
    }
  }

  async function fireTogether(
    dues: readonly DueAsked[],
    { rows, active }: Records,
  ): Promise<PromiseSettledResult<Fired>[]> {
    const agents = agentsOf(dues)
    const ask = createHooks()
    const first = asked
    asked += dues.length
    async function fire(due: DueAsked, index: number): Promise<Fired> {
      const row = rows.get(keyOf(timeOf(due)))
      const told = row && decidedFire(row)
      if (told) return told
      const known = (await agents.get(due.schedule.agent_id)) ?? null
      const choice = await steps.choose(dueOf(due, row, active), known, ask)
      return record(due.schedule.agent_id, choice, first + index)
    }
    await Promise.allSettled(agents.values())
    const fired: Promise<PromiseSettledResult<Fired>[]>[] = []
    for (const [index, due] of dues.entries()) {
      // What was chosen goes to the database while the rest is chosen.
      if (index > 0 && index % chosenTogether === 0) await soon()
      fired.push(Promise.allSettled([fire(due, index)]))
    }
    return (await Promise.all(fired)).flat()
  }

  async function rehearse(dues: readonly DueAsked[]): Promise<void> {
    const { rows, active } = await recordsOf(dues)
    const agents = agentsOf(dues)
    const choices = await Promise.all(
      dues.map(async (due) => {
        const known = (await agents.get(due.schedule.agent_id)) ?? null
        return steps.choose(dueOf(due, rows.get(keyOf(timeOf(due))), active), known, async () => null)
      }),
    )
    // A little at a time: on SQLite others wait for it.
    for (let from = 0; from < choices.length; from += rehearsedTogether) {
      await commit.rehearse(choices.slice(from, from + rehearsedTogether))
    }
  }

  return { recordsOf, fireTogether, rehearse }
}

function agentIdsOf(dues: readonly DueAsked[]): string[] {
  return [...new Set(dues.map(({ schedule }) => schedule.agent_id))]
}

function timeOf({ schedule, dueAt }: DueAsked) {
  return { schedule_id: schedule.id, due_at: dueAt }
}

/** Heard by those who await it. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
