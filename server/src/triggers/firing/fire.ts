import { setImmediate as immediate } from 'node:timers/promises'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Source } from '../../runs/dispatch/index.ts'
import { executionStore, queueStore } from '../../runs/executions/index.ts'
import { type FireRow, fireStore, keyOf } from '../fires/index.ts'
import type { Schedule } from '../schedules/index.ts'
import { type ClockFire, decidedFire, type Fired } from './choice.ts'
import type { FireDeps } from './deps.ts'
import { type AskHook, createGates } from './gates.ts'
import { type Asked, createPreCheck } from './pre-check.ts'
import { createRecord, lanes, maxPerBatch } from './record.ts'
import { createRecordCalled } from './record-called.ts'

type Cause =
  | {
      cause: 'clock'
      /** A due time fires at most once. */
      dueAt: string
    }
  | {
      cause: 'manual' | 'webhook'
      /** The caller's text, which follows the message as data. */
      context?: string | null | undefined
      /** Stored with the record. */
      metadata?: Record<string, unknown> | null | undefined
      /** The caller; null without one. */
      by?: Source | null
      /** Called in the transaction that records the run. */
      keep?: ((tx: Tx, executionId: string) => Promise<void>) | undefined
    }

export type FireOptions = Cause & {
  /** The id of the record; a repeated one returns the run that has it. */
  executionId?: string | undefined
}
export type FireRequest = FireOptions & { schedule: Schedule }
export type DueRequest = Extract<FireRequest, { cause: 'clock' }>

/** What is stored about due times: their rows by key, and the schedules of their agents with an active run. */
export type Records = { rows: ReadonlyMap<string, FireRow>; active: ReadonlySet<string> }

const rehearsedPerTransaction = 50
/** Fires chosen without a pause: enough to fill the first batch of each lane. */
const chosenPerTurn = lanes * maxPerBatch

/**
 * The one path of a fire, whatever its cause, alone or with others: gates choose its outcome, then it is recorded.
 * Each fire is recorded as soon as it can be, and fails alone.
 */
export function createFire(deps: FireDeps) {
  const { db } = deps
  const { stateOf, chooseClock, chooseCalled } = createGates(deps)
  const preCheck = createPreCheck(deps)
  const { record, rehearse: rehearseChoices } = createRecord(deps)
  const recordCalled = createRecordCalled(deps)
  let received = 0

  /** Read when the fires are due, or shortly before. */
  async function recordsOf(requests: readonly FireRequest[]): Promise<Records> {
    const due = requests.filter(isDue)
    const [rows, { activeSchedules }] = await Promise.all([
      fireStore(db).findAll(due.map(timeOf)),
      queueStore(db).openRuns(agentIdsOf(due)),
    ])
    return { rows: new Map(rows.map((row) => [keyOf(row), row])), active: activeSchedules }
  }

  /** Asks the hook once per agent, and for each further fire only if there is a hook. */
  function createAskHook(): AskHook {
    const firsts = new Map<string, Promise<Asked>>()
    return async (agentId) => {
      const first = firsts.get(agentId)
      if (first) {
        const asked = await first
        return asked?.answer?.hook_present ? preCheck(agentId) : asked
      }
      const asked = preCheck(agentId)
      firsts.set(agentId, asked)
      return asked
    }
  }

  /** A failed read fails the fires of its agent only. */
  function statesOf(requests: readonly FireRequest[]) {
    return new Map(agentIdsOf(requests.filter(isDue)).map((id) => [id, handled(stateOf(id))]))
  }

  /** Throws `conflict` when the id belongs to a run of another schedule. */
  async function replayOf(schedule: Schedule, executionId: string): Promise<Fired | null> {
    const row = await executionStore(db).byId(executionId)
    if (!row) return null
    if (row.schedule_id !== schedule.id)
      throw new Fault('conflict', 'The execution id belongs to another run.')
    return { outcome: 'fired', executionId, message: row.message, isReplay: true }
  }

  function choosing({ rows, active }: Records, states: ReturnType<typeof statesOf>, askHook: AskHook) {
    return async function choose(request: DueRequest) {
      const { schedule, executionId = newId() } = request
      const time = timeOf(request)
      const fire: ClockFire = {
        schedule,
        executionId,
        key: { ...time, agent_id: schedule.agent_id },
        isCatchUp: rows.get(keyOf(time))?.is_catch_up === 1,
      }
      const state = (await states.get(schedule.agent_id)) ?? null
      return chooseClock(fire, state, { isPreviousActive: active.has(schedule.id), askHook })
    }
  }

  /**
   * Fires schedules; the results have the order of the requests. By the clock, every gate leaves its record, and a
   * due time that was decided before returns its stored outcome. By hand or webhook, rejects with
   * `agent_not_running`, `queue_full`, `circuit_open`, `scheduler_unavailable` or `scheduler_timeout`, and then
   * stores nothing. `stored` is the result of `recordsOf` for these requests.
   */
  async function fireAll(
    requests: readonly FireRequest[],
    stored?: Records,
  ): Promise<PromiseSettledResult<Fired>[]> {
    const records = stored ?? (await recordsOf(requests))
    const states = statesOf(requests)
    const choose = choosing(records, states, createAskHook())
    const firstOrder = received
    received += requests.length

    async function fireOne(request: FireRequest, order: number): Promise<Fired> {
      const { schedule, executionId } = request
      const replay = executionId === undefined ? null : await replayOf(schedule, executionId)
      if (replay) return replay
      if (!isDue(request)) {
        const { cause, context = null, metadata = null, by = null, keep = null } = request
        const call = { cause, context, metadata, by, keep }
        return recordCalled(await chooseCalled({ schedule, executionId: executionId ?? newId(), ...call }))
      }
      const row = records.rows.get(keyOf(timeOf(request)))
      return (row && decidedFire(row)) ?? record(await choose(request), order)
    }

    await Promise.allSettled(states.values())
    const results: Promise<PromiseSettledResult<Fired>[]>[] = []
    for (const [index, request] of requests.entries()) {
      // Chosen fires go to the database while others are chosen.
      if (index > 0 && index % chosenPerTurn === 0) await immediate()
      results.push(Promise.allSettled([fireOne(request, firstOrder + index)]))
    }
    return (await Promise.all(results)).flat()
  }

  return {
    recordsOf,
    fireAll,

    /** A batch of one. */
    async fire(schedule: Schedule, options: FireOptions): Promise<Fired> {
      const [result] = await fireAll([{ schedule, ...options }])
      if (result?.status !== 'fulfilled') throw result?.reason
      return result.value
    },

    /** Does the work of fires that will be due in a moment, without asking agents or storing anything. */
    async rehearse(requests: readonly DueRequest[]): Promise<void> {
      const records = await recordsOf(requests)
      const choose = choosing(records, statesOf(requests), async () => null)
      const choices = await Promise.all(requests.map(choose))
      // In small transactions: on SQLite other writers wait for them.
      for (let from = 0; from < choices.length; from += rehearsedPerTransaction) {
        await rehearseChoices(choices.slice(from, from + rehearsedPerTransaction))
      }
    },
  }
}

function isDue(request: FireRequest): request is DueRequest {
  return request.cause === 'clock'
}

function agentIdsOf(requests: readonly FireRequest[]): string[] {
  return [...new Set(requests.map(({ schedule }) => schedule.agent_id))]
}

function timeOf({ schedule, dueAt }: DueRequest) {
  return { schedule_id: schedule.id, due_at: dueAt }
}

/** Marks a rejection as handled. Callers that await the promise still receive it. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
