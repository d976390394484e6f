import type { PreCheckAnswer } from '@roost/contracts/link/messages'
import { newId } from '../../kit/ids.ts'
import type { Schedule } from '../schedules/index.ts'
import { createByClock } from './by-clock.ts'
import type { Due } from './choice.ts'
import { createCommitTogether, keyOf } from './commit-together.ts'
import { type Fired, toldOf } from './decided.ts'
import type { FireTogetherDeps } from './deps.ts'
import type { FireAsked } from './fire.ts'
import { createLine } from './line.ts'
import { scheduleRunStore } from './run-store.ts'
import { type FireRow, fireStore } from './store.ts'

const rehearsedTogether = 50

/** A due time of the clock. */
export type DueAsked = { schedule: Schedule; dueAt: string }

/**
 * Fires that are due at the same moment: what the gates ask is read for all of them at once, and they are recorded
 * together. Each goes through the gates as `fire` takes one, is recorded as soon as it can be, and fails by itself.
 * `fireTogether` answers in their order.
 */
export function createFireTogether(
  deps: FireTogetherDeps & { fire(schedule: Schedule, asked: FireAsked): Promise<Fired> },
) {
  const { db } = deps
  const steps = createByClock(deps)
  let asked = 0
  const commit = createCommitTogether(deps, steps)
  const record = createLine(commit.together)

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

  async function read(dues: readonly DueAsked[]) {
    const agentIds = [...new Set(dues.map(({ schedule }) => schedule.agent_id))]
    const [rows, active] = await Promise.all([
      fireStore(db).findAll(dues.map(timeOf)),
      scheduleRunStore(db).activeOf(agentIds),
    ])
    // What cannot be told of one agent fails its own fires only.
    const agents = new Map(agentIds.map((id) => [id, quiet(steps.knowOf(id))]))
    return { rows: new Map(rows.map((row) => [keyOf(row), row])), active, agents }
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

  async function fireTogether(dues: readonly DueAsked[]): Promise<PromiseSettledResult<Fired>[]> {
    const { rows, active, agents } = await read(dues)
    const ask = createHooks()
    const first = asked
    asked += dues.length
    return Promise.allSettled(
      dues.map(async (due, index) => {
        const row = rows.get(keyOf(timeOf(due)))
        const told = row && toldOf(row)
        if (told) return told
        const known = (await agents.get(due.schedule.agent_id)) ?? null
        return record(await steps.choose(dueOf(due, row, active), known, ask), first + index)
      }),
    )
  }

  async function rehearse(dues: readonly DueAsked[]): Promise<void> {
    const { rows, active, agents } = await read(dues)
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

  return { fireTogether, rehearse }
}

function timeOf({ schedule, dueAt }: DueAsked) {
  return { schedule_id: schedule.id, due_at: dueAt }
}

/** Heard by those who await it. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
