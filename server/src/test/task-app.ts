import type { RunResult } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { type Chat, chatRoutes, createChat } from '../conversations/chat/index.ts'
import { createIdempotency, createWorkStates } from '../foundation/idempotency/index.ts'
import type { Route } from '../http/route.ts'
import type { Reach, SessionCaller } from '../identity/access/caller.ts'
import type { Clock } from '../kit/clock.ts'
import { createFakeAgentLink } from '../ports/agent-link/fake.ts'
import type { AgentLink } from '../ports/agent-link/port.ts'
import type { Db } from '../ports/database/port.ts'
import { silentLog } from '../ports/log.ts'
import { createQueue, queueRoutes } from '../runs/dispatch/index.ts'
import { executionRoutes } from '../runs/executions/index.ts'
import { createTasks, type Tasks, taskRoutes } from '../runs/tasks/index.ts'
import { createTestClock } from './clock.ts'
import { as, routesApp } from './routes-app.ts'
import { agentFact, linked, person, resultOf, startRunPlatform } from './run-platform.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read responses field by field; the server checks their schemas
export type Loose = any

const agentKey = (agent_id: string) => ({
  kind: 'key' as const,
  user: person({ id: 'u-owner' }).user,
  key: { id: `k-${agent_id}`, name: agent_id, scope: 'agent' as const, agent_id },
})
/** The key of a run of a1 that works for this person. */
const runKey = ({ user }: SessionCaller, reach: Reach) => ({
  ...{ kind: 'key' as const, user },
  key: { ...agentKey('a1').key, id: `run-${reach}`, principal: `user:${user.id}` },
  run: { ref: `run-${reach}`, execution_id: `e-${reach}`, reach },
})
const bob = person({ id: 'u2', username: 'bob', email: 'bob@example.org' })
const userKey = {
  kind: 'key' as const,
  user: person().user,
  key: { id: 'k-user', name: 'mine', scope: 'user' as const, agent_id: null },
}

const connectorKey = {
  kind: 'key' as const,
  user: person().user,
  key: { id: 'k-connector', name: 'offered', scope: 'connector' as const, agent_id: 'a1' },
}

/** Tasks, chat, executions and the queue of one agent behind the real web layer. The test acts as the agent. */
export async function startTaskApp(
  db: Db,
  options: {
    queueDepth?: number
    slots?: number
    /** Routes of a feature that uses tasks. */
    routes?(parts: { tasks: Tasks; link: AgentLink; clock: Clock }): Route[]
  } = {},
) {
  const clock = createTestClock()
  const link = createFakeAgentLink()
  const platform = await startRunPlatform({ db, clock, link, queueDepth: options.queueDepth ?? 50 })
  platform.agents.set('a1', agentFact({ effective_slots: options.slots ?? 3 }))
  const { executions, dispatch, hooks, events } = platform
  const works = createWorkStates()
  const warnings: string[] = []
  const log = { ...silentLog, warn: (_: unknown, text?: string) => void warnings.push(text ?? '') }
  const idempotency = createIdempotency({ db, clock, log, workState: works.ask })
  const agentName = async (id: string) => `name-of-${id}`
  const chat: Chat = createChat({
    ...{ db, clock, link, events, hooks, dispatch, executions, idempotency, agentName },
    log: silentLog,
  })
  const tasks = createTasks({
    ...{ db, clock, dispatch, executions, idempotency, agentName },
    joinConversation: chat.joinConversation,
  })
  works.register(chat.workState)
  works.register(tasks.workState)
  const queue = createQueue({ db, settle: executions.settle })
  const routes = [
    ...taskRoutes(tasks),
    ...queueRoutes(queue),
    ...chatRoutes(chat),
    ...executionRoutes(executions, silentLog),
    ...(options.routes?.({ tasks, link, clock }) ?? []),
  ]
  const app = routesApp(routes, {
    ann: { caller: person(), relation: 'owner' },
    bob: { caller: bob, relation: 'shared' },
    key: { caller: userKey, relation: 'owner' },
    other: { caller: agentKey('a2'), relation: 'permitted' },
    self: { caller: agentKey('a1'), relation: 'self' },
    annsRun: { caller: runKey(person(), 'owner'), relation: 'self' },
    bobsSharedRun: { caller: runKey(bob, 'shared'), relation: 'shared' },
    bobsGuestRun: { caller: runKey(bob, 'guest'), relation: 'guest' },
    connector: { caller: connectorKey, relation: 'shared' },
  })

  async function call(
    who: string,
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    payload?: object,
    headers: Record<string, string> = {},
  ) {
    const reply = await app.inject({
      method,
      url: `/api/agents/scout${path}`,
      headers: as(who, { accept: 'application/json', ...headers }),
      ...(payload ? { payload } : {}),
    })
    const json: Loose = reply.json()
    return { status: reply.statusCode, headers: reply.headers, json }
  }
  const task = (who: string, payload: object, headers?: Record<string, string>) =>
    call(who, 'POST', '/task', payload, headers)

  /** Resolves when the agent is notified of work. */
  const woken = () =>
    new Promise<void>((resolve) => {
      const wake = link.wake
      link.wake = (agentId) => {
        link.wake = wake
        wake(agentId)
        resolve()
      }
    })

  /** Claims the next run like an agent and reports its runtime as started. */
  async function claim() {
    const { runs } = await dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const run = runs[0] ?? fail('no run was claimed')
    await dispatch.handlers.started(linked, { t: 'started', ...holdOf(run), pid: 1 })
    return run
  }
  const lines = (run: Held, said: TranscriptLine[]) =>
    dispatch.handlers.lines(linked, { t: 'lines', ...holdOf(run), from: 1, lines: said })
  const finish = (run: Held, over: Partial<RunResult> = {}) =>
    dispatch.handlers.result(linked, resultOf(run, { response: 'done', ...over }))

  /** Sends a task, runs it like an agent, and returns run and response. */
  async function worked(
    who: string,
    payload: object,
    over: Partial<RunResult> = {},
    headers: Record<string, string> = {},
  ) {
    const wake = woken()
    const reply = task(who, payload, headers)
    await wake
    const run = await claim()
    await finish(run, over)
    return { run, ...(await reply) }
  }

  return { platform, clock, link, warnings, call, task, woken, claim, lines, finish, worked, app }
}

type Held = { execution_id: string; claim_token: number }

function holdOf({ execution_id, claim_token }: Held): Held {
  return { execution_id, claim_token }
}

function fail(text: string): never {
  throw new Error(text)
}
