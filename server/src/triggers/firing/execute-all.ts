import { statusOf } from '@roost/contracts/kit/errors'
import type {
  ExecuteTask,
  ExecuteTaskReply,
  ExecuteTasks,
  ExecuteTasksReply,
} from '@roost/contracts/triggers/firing'
import { takenAheadSeconds } from '@roost/contracts/triggers/firing'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Log } from '../../ports/log.ts'
import type { Schedules } from '../schedules/index.ts'
import type { Fired } from './decided.ts'
import type { Firing } from './service.ts'

export type ExecuteAllDeps = {
  clock: Pick<Clock, 'now' | 'wait'>
  log: Pick<Log, 'error'>
  schedules: Pick<Schedules, 'byIds' | 'position'>
  firing: Pick<Firing, 'fireTogether' | 'recordsOf' | 'rehearse'>
  /** One by itself; answered without its end. */
  one(task: ExecuteTask): Promise<ExecuteTaskReply>
}

type Task = ExecuteTasks['tasks'][number]
type Result = ExecuteTasksReply['results'][number]

/** Many fires of the clock; what is out of the ordinary about one of them is seen to by itself. */
export function createExecuteAll({ clock, log, schedules, firing, one }: ExecuteAllDeps) {
  /** What stands in the way of none of them: the schedule is there, and nothing is asked for but its fire. */
  async function ordinaryOf(tasks: readonly Task[]) {
    const found = await schedules.byIds([...new Set(tasks.map((task) => task.schedule_id))])
    const known = new Map(found.map((schedule) => [schedule.id, schedule]))
    const ordinary = tasks.flatMap((task) => {
      const schedule = known.get(task.schedule_id)
      return schedule && !task.execution_id ? [{ task, due: { schedule, dueAt: task.due_at } }] : []
    })
    const dues = ordinary.map(({ due }) => due)
    return { places: new Map(ordinary.map(({ task }, index) => [task, index])), dues }
  }

  async function look(tasks: readonly Task[]) {
    const { places, dues } = await ordinaryOf(tasks)
    return { places, dues, records: await firing.recordsOf(dues) }
  }

  /**
   * Looks while there is time, and again when they are due, if anything may have changed since. What others decide
   * meanwhile is seen when they are recorded.
   */
  async function lookAhead(tasks: readonly Task[]) {
    const until = Math.max(...tasks.map(({ due_at }) => Date.parse(due_at)))
    const early = () => until - clock.now().getTime()
    if (early() <= 0) return look(tasks)
    refuseTooEarly(early())
    const position = await schedules.position()
    const looked = await look(tasks)
    // More than once: a timer may end a moment before the clock says so, and a clock may be set back.
    while (early() > 0) {
      refuseTooEarly(early())
      await clock.wait(early())
    }
    const isSame = looked.records.active.size === 0 && (await schedules.position()) === position
    return isSame ? looked : look(tasks)
  }

  function resultOf(settled: PromiseSettledResult<Result>): Result {
    if (settled.status === 'fulfilled') return settled.value
    const { reason } = settled
    const code = reason instanceof Fault ? reason.code : 'internal_error'
    if (!(reason instanceof Fault)) log.error({ err: reason }, 'a fire failed')
    return { status: 'refused', error: code, http_status: statusOf(code) }
  }

  return async function executeAll({ tasks, rehearsal }: ExecuteTasks): Promise<ExecuteTasksReply> {
    if (rehearsal) {
      await firing.rehearse((await ordinaryOf(tasks)).dues)
      return { results: [] }
    }
    const { places, dues, records } = await lookAhead(tasks)
    const fired = firing.fireTogether(dues, records)

    async function answer(task: Task): Promise<Result> {
      const place = places.get(task)
      if (place === undefined) return unended(await one({ ...task, async_mode: true }))
      const settled = (await fired)[place]
      if (settled?.status !== 'fulfilled') throw settled?.reason
      return repliedOf(settled.value)
    }

    return { results: (await Promise.allSettled(tasks.map(answer))).map(resultOf) }
  }
}

function refuseTooEarly(ms: number): void {
  if (ms > takenAheadSeconds * 1000) throw new Fault('conflict', 'The fires are not due yet.')
}

/** Who asks in asynchronous mode is never answered with an end. */
function unended(reply: ExecuteTaskReply): Result {
  if ('async_mode' in reply || 'reason' in reply) return reply
  throw new Error('A fire was answered with the end of its run.')
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
