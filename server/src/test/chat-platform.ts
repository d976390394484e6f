import assert from 'node:assert/strict'
import type { RunResult } from '@roost/contracts/link/runs'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { chatRoutes, createChat } from '../conversations/chat/index.ts'
import { createIdempotency } from '../foundation/idempotency/index.ts'
import { createFakeAgentLink } from '../ports/agent-link/fake.ts'
import { silentLog } from '../ports/log.ts'
import { executionRoutes } from '../runs/executions/index.ts'
import { createTestClock } from './clock.ts'
import { type OpenTestDb, openTestDatabase } from './dialects.ts'
import { as, routesApp } from './routes-app.ts'
import { linked, person, resultOf, startRunPlatform } from './run-platform.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read responses field by field; the server checks their schemas
export type Loose = any

/** Returns a transcript line with text of the agent. */
export const said = (text: string): TranscriptLine => ({
  type: 'assistant',
  message: { role: 'assistant', content: [{ type: 'text', text }] },
})
const key = (scope: 'agent' | 'connector', agent_id: string) => ({
  kind: 'key' as const,
  user: person().user,
  key: { id: `k-${scope}-${agent_id}`, name: scope, scope, agent_id },
})

/** Requests one JSON document as response. */
export const json = { accept: 'application/json' }

/** Conversations behind their routes; the test acts as the agent. */
export async function startChatPlatform(openDb: OpenTestDb = openTestDatabase) {
  const clock = createTestClock()
  const link = createFakeAgentLink()
  const db = await openDb()
  const platform = await startRunPlatform({ db, clock, link, queueDepth: 5 })
  const { executions, dispatch, hooks, events } = platform
  const idempotency = createIdempotency({
    db,
    clock,
    log: silentLog,
    workState: async (work) => (await chat.workState(work)) ?? { state: 'void' },
  })
  const chat = createChat({
    ...{ db, clock, link, events, hooks, dispatch, executions, idempotency },
    log: silentLog,
    agentName: async (id) => `name-of-${id}`,
  })
  const app = routesApp([...chatRoutes(chat), ...executionRoutes(executions, silentLog)], {
    ann: { caller: person(), relation: 'owner' },
    bob: { caller: person({ id: 'u2', username: 'bob', email: 'bob@example.org' }), relation: 'shared' },
    admin: { caller: person({ id: 'u3', username: 'root', role: 'admin' }), relation: 'admin' },
    agent: { caller: key('agent', 'a2'), relation: 'permitted' },
    self: { caller: key('agent', 'a1'), relation: 'self' },
    connector: { caller: key('connector', 'a1'), relation: 'shared' },
  })
  async function call(
    who: string,
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    payload?: object,
    headers: Record<string, string> = {},
  ) {
    const reply = await app.inject({
      method,
      url: `/api/agents/scout${path}`,
      headers: as(who, headers),
      ...(payload ? { payload } : {}),
    })
    const type = String(reply.headers['content-type'])
    const json: Loose = type.includes('application/json') ? reply.json() : null
    const objects: Loose[] = type.includes('x-ndjson')
      ? reply.body
          .trimEnd()
          .split('\n')
          .map((text) => JSON.parse(text))
      : []
    return { status: reply.statusCode, headers: reply.headers, text: reply.body, json, objects }
  }

  /** Claims the next run like an agent, sends lines and finishes it. */
  async function work(over: Partial<RunResult> = {}, lines: TranscriptLine[] = [said('hello')]) {
    const { runs } = await dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const run = runs[0] ?? assert.fail('no run was claimed')
    const hold = { execution_id: run.execution_id, claim_token: run.claim_token }
    await dispatch.handlers.started(linked, { t: 'started', ...hold, pid: 1 })
    if (lines.length > 0) await dispatch.handlers.lines(linked, { t: 'lines', ...hold, from: 1, lines })
    await dispatch.handlers.result(linked, resultOf(run, { response: 'hello', ...over }))
    return run
  }
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
  /** Runs one whole turn. */
  async function turn(
    who: string,
    path: string,
    payload: object,
    over: Partial<RunResult> = {},
    headers = {},
  ) {
    const wake = woken()
    const reply = call(who, 'POST', path, payload, headers)
    await wake
    const run = await work(over)
    return { run, ...(await reply) }
  }
  const messages = async (who = 'ann') =>
    (await call(who, 'GET', '/chat/history/persistent')).json.messages as Loose[]
  return { platform, chat, link, clock, call, work, turn, woken, messages }
}
