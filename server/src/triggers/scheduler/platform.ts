import { Agent, request } from 'node:http'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import type { ExecuteTaskReply, ExecuteTasksReply, ScheduleChange } from '@roost/contracts/triggers/firing'
import {
  executeTaskAt,
  executeTasksAt,
  scheduleChangesAt,
  validateExecutionAt,
} from '@roost/contracts/triggers/scheduler-calls'
import type { Secret } from '../../kit/secret.ts'
import type { DueTime } from '../fires/index.ts'

export type DueFire = DueTime & { agent_name: string }

/** The scheduler's calls of the API. They reject with `Refused` for an error response. */
export type Platform = {
  changes(after: number, signal: AbortSignal): Promise<{ position: number; schedules: ScheduleChange[] }>
  /** Delivers a claimed fire; returns after its gates have decided, which a slow pre-check hook delays. */
  fire(due: DueFire, signal: AbortSignal): Promise<ExecuteTaskReply>
  /** Delivers up to `mostTasksTogether` fires; each has its own result, in order. */
  fireAll(dues: readonly DueFire[], signal: AbortSignal): Promise<ExecuteTasksReply>
  /** Prepares the platform for fires that will be due in a moment. */
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

/** A fire may wait for an agent's hook, which takes up to a minute. */
const fireTimeoutMs = 90_000
const timeoutMs = 10_000
/** Shorter than the platform's timeout, so that no request meets a connection that is being closed. */
const idleMs = 50_000
/** Concurrent requests; beyond this number, agents with slow hooks delay others. */
const maxConnections = 128

/** Connects to the internal listener of an API on this machine, or to a control listener, with persistent connections. */
export function connectPlatform(baseUrl: string, internalSecret: Secret): Platform {
  const agent = new Agent({
    ...{ keepAlive: true, maxSockets: maxConnections, maxFreeSockets: 16 },
    timeout: idleMs,
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
      const call = request(
        baseUrl + path + query,
        {
          method,
          agent,
          signal,
          timeout,
          headers: {
            authorization: `Bearer ${internalSecret.reveal()}`,
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
            const parsed = parse(answer)
            if (status >= 200 && status < 300 && parsed !== undefined) resolve(parsed)
            else reject(new Refused(status, codeOf(parsed)))
          })
        },
      )
      call.on('timeout', () => call.destroy(new Error(`The platform did not answer in ${timeout} ms.`)))
      call.on('error', reject)
      call.end(text ?? undefined)
    })
  }

  return {
    // The platform defines the replies, and both sides have the same version.
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
    fireAll: (dues, signal) =>
      ask(
        executeTasksAt,
        {
          body: { tasks: dues.map(taskOf) },
          timeout: fireTimeoutMs,
        },
        signal,
      ) as ReturnType<Platform['fireAll']>,
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
