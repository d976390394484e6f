import assert from 'node:assert/strict'
import type { RunResult } from '@roost/contracts/link/runs'
import { startFacilitator, testNetwork } from '@roost/test-support/payments/index'
import { createThrowawayVault } from '../../../foundation/vault/index.ts'
import { createFakeAgentLink } from '../../../ports/agent-link/fake.ts'
import type { Db } from '../../../ports/database/port.ts'
import { silentLog } from '../../../ports/log.ts'
import { createFacilitator } from '../../../ports/payments/facilitator.ts'
import { agentKey, startAgentsPlatform } from '../../../test/agents-platform.ts'
import { createTestClock } from '../../../test/clock.ts'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { as, routesApp } from '../../../test/routes-app.ts'
import { linked, person, resultOf } from '../../../test/run-platform.ts'
import { createChat } from '../../chat/index.ts'
import { createPaid, paidRoutes } from '../index.ts'
import { readProof } from '../proof.ts'

export const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
export const offer = { enabled: true, price_usd: 0.001, pay_to: payTo, network: testNetwork }

// Tests read replies field by field; the server validates their shapes.
// biome-ignore lint/suspicious/noExplicitAny: any reply
export type Loose = any
export type PaidAnswer = { status: number; headers: Record<string, Loose>; json: Loose }
type Run = { execution_id: string; claim_token: number; message: string; system_prompt: string }
/** Produces the agent's result of a run. */
export type Script = (run: Run) => Promise<Partial<RunResult>> | Partial<RunResult>

/** The agent `scout`, which echoes messages, and a facilitator; `ann` is the owner. */
export async function openPaidWorld(open: OpenTestDb, { isConfigured = true } = {}) {
  const db = await open()
  const clock = createTestClock()
  const facilitator = await startFacilitator()
  const vault = createThrowawayVault()
  const agent = { script: ((run) => ({ response: `ok: ${run.message}` })) as Script, runs: 0 }
  const url = isConfigured ? facilitator.url : null
  const shared = { db, clock, vault, url, agent }
  const first = await startProcess(shared)
  const { app, platform } = first

  const manage = async (method: 'GET' | 'PUT' | 'DELETE', path: string, payload?: object, who = 'ann') => {
    const headers = as(who)
    const reply = await app.inject({
      method,
      url: `/api/agents/scout${path}`,
      headers,
      ...(payload ? { payload } : {}),
    })
    return { status: reply.statusCode, json: reply.json() }
  }

  return {
    db,
    clock,
    agent,
    platform,
    paid: first.paid,
    facilitator,
    manage,
    send: first.send,
    info: (name = 'scout', headers = {}) =>
      app.inject({ method: 'GET', url: `/api/paid/${name}/info`, headers }),
    payments: async (): Promise<Loose[]> => (await manage('GET', '/payments')).json,
    /** The recorded payment actions, sorted. */
    actions: async (): Promise<string[]> =>
      (await manage('GET', '/payments')).json.map(({ action }: Loose) => action).toSorted(),
    /** The payment terms of the offer. */
    async required(message = 'hi'): Promise<Loose> {
      const { headers } = await first.send({ message })
      return JSON.parse(Buffer.from(headers['payment-required'], 'base64').toString())
    },
    work: first.work,
    /** Resolves when the agent has finished its current work. */
    ended: () => first.working(),
    proofOf: (headers: Record<string, string>) =>
      readProof((name) => headers[name.toUpperCase()]) ?? assert.fail('there is a proof'),
    /**
     * Starts another process on the same database that shares nothing with the first. It serves the agent's link if
     * `takesRuns`. After `kill` its database calls fail.
     */
    async startOther({ takesRuns = false } = {}) {
      const own = await db.openAgain()
      const { promise: woken, resolve } = Promise.withResolvers<void>()
      const { send } = await startProcess({ ...shared, db: own, ...(takesRuns ? {} : { woken: resolve }) })
      return { send, woken, kill: () => own.close() }
    },
    [Symbol.asyncDispose]: () => facilitator[Symbol.asyncDispose](),
  }
}

type SharedParts = {
  db: Db
  clock: ReturnType<typeof createTestClock>
  vault: ReturnType<typeof createThrowawayVault>
  url: string | null
  agent: { script: Script; runs: number }
  /** Called instead of the agent, which is linked elsewhere. */
  woken?: () => void
}

async function startProcess({ db, clock, vault, url, agent, woken }: SharedParts) {
  const link = createFakeAgentLink()
  const wake = (agentId: string) => {
    link.wake(agentId)
    if (woken) woken()
    else void work()
  }
  const platform = await startAgentsPlatform({ db, clock, link: { ...link, wake } })
  const { dispatch, executions, events, hooks, agentRecords, idempotency, limits, agentName } = platform
  createChat({ db, clock, link, events, hooks, dispatch, executions, idempotency, agentName, log: silentLog })
  const paid = createPaid({
    ...{ db, clock, vault, events, dispatch, executions, agentRecords },
    log: silentLog,
    payments: url === null ? null : createFacilitator({ url, fetch }),
    baseUrl: 'https://roost.example',
  })
  const app = routesApp(paidRoutes(paid, limits), {
    ann: { caller: person(), relation: 'owner' },
    bob: { caller: person({ id: 'u2', username: 'bob', email: null }), relation: 'shared' },
    agent: { caller: agentKey('a1'), relation: 'self' },
    stranger: { caller: person({ id: 'u3' }), relation: null },
  })

  let working: Promise<void> = Promise.resolve()
  const work = () => {
    working = runQueued()
    return working
  }
  async function runQueued(): Promise<void> {
    const { runs } = await dispatch.handlers.claim(linked, { t: 'claim', free: 10 })
    for (const run of runs) {
      agent.runs += 1
      const result = await agent.script(run)
      await dispatch.handlers.result(linked, resultOf(run, result))
    }
  }

  async function send(
    payload: object,
    headers: Record<string, string> = {},
    name = 'scout',
  ): Promise<PaidAnswer> {
    const reply = await app.inject({ method: 'POST', url: `/api/paid/${name}/chat`, payload, headers })
    return { status: reply.statusCode, headers: reply.headers, json: reply.json() }
  }

  return { app, platform, paid, send, work, working: () => working }
}

/** Decodes the JSON object in an x402 header. */
export function decoded(header: unknown): Loose {
  assert.ok(typeof header === 'string', 'the header is there')
  return JSON.parse(Buffer.from(header, 'base64').toString())
}
