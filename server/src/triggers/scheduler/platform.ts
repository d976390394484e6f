import { Agent, request } from 'node:http'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import type { ExecuteTaskReply, ExecuteTasksReply, ScheduleChange } from '@roost/contracts/triggers/firing'
import {
  executeTaskAt,
  executeTasksAt,
  scheduleChangesAt,
  validateExecutionAt,
} from '@roost/contracts/triggers/scheduler-calls'
import type { DueTime } from '../fires/index.ts'

export type DueFire = DueTime & { agent_name: string }

/** What the scheduler asks of the API. Rejects with `Refused` for an answer that is an error, else as it failed. */
export type Platform = {
  changes(after: number, signal: AbortSignal): Promise<{ position: number; schedules: ScheduleChange[] }>
  /** Hands a claimed fire over; answers once its gates have decided, which a slow pre-check hook delays. */
  fire(due: DueFire, signal: AbortSignal): Promise<ExecuteTaskReply>
  /** The same for several, at most `mostTasksTogether`; answers in their order, each for itself. */
  fireTogether(dues: readonly DueFire[], signal: AbortSignal): Promise<ExecuteTasksReply>
  /** They will be due in a moment: the platform gets ready for them. */
  rehearse(dues: readonly DueFire[], signal: AbortSignal): Promise<void>
  validate(executionId: string, signal: AbortSignal): Promise<void>
  close(): void
}

export class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(`The platform answered ${status} ${code}.`)
    this.name = 'Refused'
    this.status = status
    this.code = code
  }
}

/** A fire may wait for the hook of an agent, which takes a minute and its way back. */
const fireTimeoutMs = 90_000
const timeoutMs = 10_000
/** A connection without use is given up before the platform gives it up, when a request may just be on its way. */
const unusedMs = 50_000
/** Fires on their way at once: agents with slow hooks hold up others only beyond so many. */
const mostConnections = 128

/** The internal listener of an API on this machine, over connections that stay open. */
export function connectPlatform(baseUrl: string): Platform {
  const agent = new Agent({
    ...{ keepAlive: true, maxSockets: mostConnections, maxFreeSockets: 16 },
    timeout: unusedMs,
  })

  function ask(
    { method, path }: Pick<Endpoint, 'method' | 'path'>,
    {
      query = '',
      body,
      key,
      timeout = timeoutMs,
    }: {
      query?: string
      body?: unknown
      key?: string
      timeout?: number
    },
    signal: AbortSignal,
  ): Promise<unknown> {
    const text = body === undefined ? null : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const asked = request(
        baseUrl + path + query,
        {
          method,
          agent,
          signal,
          timeout,
          headers: {
            ...(text === null
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
            ...(key === undefined ? {} : { 'idempotency-key': key }),
          },
        },
        (response) => {
          let answer = ''
          response.setEncoding('utf8')
          response.on('data', (chunk: string) => {
            answer += chunk
          })
          response.on('error', reject)
          response.on('end', () => {
            const status = response.statusCode ?? 0
            const read = parse(answer)
            if (status >= 200 && status < 300 && read !== undefined) resolve(read)
            else reject(new Refused(status, codeOf(read)))
          })
        },
      )
      asked.on('timeout', () => asked.destroy(new Error(`The platform did not answer in ${timeout} ms.`)))
      asked.on('error', reject)
      asked.end(text ?? undefined)
    })
  }

  return {
    // The platform owns the shape of its replies; both sides are of one version.
    changes: (after, signal) =>
      ask(scheduleChangesAt, { query: `?after=${after}` }, signal) as ReturnType<Platform['changes']>,
    fire: ({ schedule_id, due_at, agent_name }, signal) =>
      ask(
        executeTaskAt,
        {
          body: { agent_name, schedule_id, due_at, async_mode: true },
          key: `fire ${schedule_id} ${due_at}`,
          timeout: fireTimeoutMs,
        },
        signal,
      ) as ReturnType<Platform['fire']>,
    fireTogether: (dues, signal) =>
      ask(
        executeTasksAt,
        {
          body: { tasks: dues.map(taskOf) },
          timeout: fireTimeoutMs,
        },
        signal,
      ) as ReturnType<Platform['fireTogether']>,
    async rehearse(dues, signal) {
      await ask(executeTasksAt, { body: { tasks: dues.map(taskOf), rehearsal: true } }, signal)
    },
    validate: async (execution_id, signal) =>
      void (await ask(validateExecutionAt, { body: { execution_id } }, signal)),
    close: () => agent.destroy(),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function codeOf(body: unknown): string {
  if (typeof body === 'object' && body !== null && 'error' in body) return String(body.error)
  return 'unreadable_answer'
}

function taskOf({ schedule_id, due_at, agent_name }: DueFire) {
  return { agent_name, schedule_id, due_at }
}
