import { statusOf } from '@roost/contracts/kit/errors'
import type { ExecuteTasks, ExecuteTasksReply } from '@roost/contracts/triggers/firing'
import { takenAheadSeconds } from '@roost/contracts/triggers/firing'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Log } from '../../ports/log.ts'
import type { DueTime } from '../fires/index.ts'
import type { Schedules } from '../schedules/index.ts'
import type { Fired } from './choice.ts'
import type { DueRequest } from './fire.ts'
import type { Firing } from './service.ts'

export type ExecuteAllDeps = {
  clock: Pick<Clock, 'now' | 'wait'>
  log: Pick<Log, 'error'>
  schedules: Pick<Schedules, 'byIds' | 'position'>
  firing: Pick<Firing, 'fireAll' | 'recordsOf' | 'rehearse'>
  /** Records the fire of a deleted schedule. */
  suppressDeleted(due: DueTime): Promise<Fired>
}

type Task = ExecuteTasks['tasks'][number]
type Result = ExecuteTasksReply['results'][number]

/** Fires many due times; each has its own result. */
export function createExecuteAll({ clock, log, schedules, firing, suppressDeleted }: ExecuteAllDeps) {
  /** The requests of tasks whose schedule exists, and their positions. */
  async function requestsOf(tasks: readonly Task[]) {
    const found = await schedules.byIds([...new Set(tasks.map((task) => task.schedule_id))])
    const byId = new Map(found.map((schedule) => [schedule.id, schedule]))
    const known = tasks.flatMap((task) => {
      const schedule = byId.get(task.schedule_id)
      if (!schedule) return []
      const executionId = task.execution_id ?? undefined
      const request: DueRequest = { schedule, cause: 'clock', dueAt: task.due_at, executionId }
      return [{ task, request }]
    })
    return {
      positions: new Map(known.map(({ task }, index) => [task, index])),
      requests: known.map(({ request }) => request),
    }
  }

  async function read(tasks: readonly Task[]) {
    const { positions, requests } = await requestsOf(tasks)
    return { positions, requests, records: await firing.recordsOf(requests) }
  }

  /**
   * Reads before the due time, and again at the due time if anything may have changed since. Fires that others
   * decide in between are noticed when they are recorded.
   */
  async function readAhead(tasks: readonly Task[]) {
    const until = Math.max(...tasks.map(({ due_at }) => Date.parse(due_at)))
    const msEarly = () => until - clock.now().getTime()
    if (msEarly() <= 0) return read(tasks)
    refuseTooEarly(msEarly())
    const position = await schedules.position()
    const early = await read(tasks)
    // Repeated: a timer may end slightly early, and the clock may be set back.
    while (msEarly() > 0) {
      refuseTooEarly(msEarly())
      await clock.wait(msEarly())
    }
    const isSame = early.records.active.size === 0 && (await schedules.position()) === position
    return isSame ? early : read(tasks)
  }

  function replyOf(settled: PromiseSettledResult<Result>): Result {
    if (settled.status === 'fulfilled') return settled.value
    const { reason } = settled
    const code = reason instanceof Fault ? reason.code : 'internal_error'
    if (!(reason instanceof Fault)) log.error({ err: reason }, 'a fire failed')
    return { status: 'refused', error: code, http_status: statusOf(code) }
  }

  return async function executeAll({ tasks, rehearsal }: ExecuteTasks): Promise<ExecuteTasksReply> {
    if (rehearsal) {
      await firing.rehearse((await requestsOf(tasks)).requests)
      return { results: [] }
    }
    const { positions, requests, records } = await readAhead(tasks)
    const fired = firing.fireAll(requests, records)

    async function resultOf(task: Task): Promise<Result> {
      const position = positions.get(task)
      if (position === undefined) return repliedOf(await suppressDeleted(task))
      const result = (await fired)[position]
      if (result?.status !== 'fulfilled') throw result?.reason
      return repliedOf(result.value)
    }

    return { results: (await Promise.allSettled(tasks.map(resultOf))).map(replyOf) }
  }
}

function refuseTooEarly(ms: number): void {
  if (ms > takenAheadSeconds * 1000) throw new Fault('conflict', 'The fires are not due yet.')
}

export function repliedOf(fired: Fired) {
  return fired.outcome === 'fired' ? accepted(fired.executionId, fired.isReplay) : notFired(fired)
}

export function accepted(execution_id: string, isReplay?: true) {
  return {
    status: 'accepted' as const,
    execution_id,
    async_mode: true as const,
    ...(isReplay ? { idempotent_replay: true } : {}),
  }
}

export function notFired({ outcome, reason, executionId }: Exclude<Fired, { outcome: 'fired' }>) {
  return { status: outcome, reason, ...(executionId === undefined ? {} : { execution_id: executionId }) }
}
