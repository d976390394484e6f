import assert from 'node:assert/strict'
import type { AgentsArea } from '../../../agents/area.ts'
import { createShared, openAgents, until } from '../../../agents/test/world.ts'
import { createIdempotency } from '../../../foundation/idempotency/index.ts'
import type { Outbox } from '../../../foundation/outbox/index.ts'
import { createRateLimits, type RateLimits } from '../../../foundation/rate-limits/index.ts'
import type { Vault } from '../../../foundation/vault/index.ts'
import { createAccessRevocation } from '../../../http/access-revocation.ts'
import type { Route } from '../../../http/route.ts'
import { type Identify, isTouched } from '../../../identity/access/index.ts'
import { createDevices } from '../../../identity/devices/index.ts'
import { createEmailCodes } from '../../../identity/email-login/index.ts'
import type { Users } from '../../../identity/users/index.ts'
import type { Clock } from '../../../kit/clock.ts'
import { createFakeAgentLink } from '../../../ports/agent-link/fake.ts'
import type { Db } from '../../../ports/database/port.ts'
import { silentLog } from '../../../ports/log.ts'
import { createFakeMailer } from '../../../ports/mail/fake.ts'
import type { Starter } from '../../../runs/playbooks/index.ts'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { agentFact, resultOf, startRunPlatform } from '../../../test/run-platform.ts'
import { type Chat, createChat } from '../../chat/index.ts'
import {
  createWorkspaceChat,
  type WorkspaceChat,
  type WorkspaceChatDeps,
  workspaceChatRoutes,
} from '../index.ts'

export type WorkspaceWorld = Awaited<ReturnType<typeof openWorkspaceWorld>>

const prefix = '/api/enterprise/client-portal'
// Tests read replies field by field; the server validates their shapes.
// biome-ignore lint/suspicious/noExplicitAny: any reply
export type Loose = any

export type WorkspaceWorldOptions = {
  isExchangeEntitled?: boolean
  rateReport?: WorkspaceChatDeps['rateReport']
  /** Routes of features that build on the Workspace. */
  more?(parts: {
    db: Db
    clock: Clock
    vault: Vault
    limits: RateLimits
    events: Outbox
    area: AgentsArea
    workspace: WorkspaceChat
    chat: Chat
    users: Users
    identify: Identify
  }): Route[]
}

/** An agent `scout` of the creator `ann`, with runs, mail and the Workspace. */
export async function openWorkspaceWorld(
  open: OpenTestDb,
  {
    isExchangeEntitled = true,
    rateReport = async () => assert.fail('no report is rated here'),
    more = () => [],
  }: WorkspaceWorldOptions = {},
) {
  const db = await open()
  const shared = createShared()
  const { clock, ephemeral, vault } = shared
  const link = createFakeAgentLink()
  const mail = createFakeMailer()
  const accessRevocation = createAccessRevocation()
  const runs = await startRunPlatform({ db, clock, link, ephemeral })
  const { executions, dispatch, hooks, events } = runs
  const built: { workspace?: WorkspaceChat } = {}
  const idempotency = createIdempotency({
    db,
    clock,
    log: silentLog,
    workState: async (work) => (await built.workspace?.workState(work)) ?? { state: 'void' },
  })
  const chat = createChat({
    ...{ db, clock, link, events, hooks, dispatch, executions, idempotency },
    log: silentLog,
    agentName: async () => null,
  })
  const starters = { calls: 0, answer: (_agent: string): Starter[] => [] }
  const world = await openAgents(db, {
    shared,
    routes: (area) => {
      const { agentRecords, agentAccess, workspace, agentManagement } = area
      const limits = createRateLimits({ ephemeral, clock })
      // `world` does not exist yet; its parts are resolved on first use.
      const users = lazy(() => world.identity.users)
      const sessions = lazy(() => world.identity.sessions)
      const allowList = lazy(() => world.identity.allowList)
      const changes = lazy(() => world.identity.changes)
      built.workspace = createWorkspaceChat({
        ...{ db, clock, link, events, hooks, dispatch, executions, idempotency },
        ...{ agentRecords, agentAccess, workspace, mail, accessRevocation, isExchangeEntitled },
        log: silentLog,
        descriptionOf: agentManagement.descriptionOf,
        playbooks: {
          starters: async ({ name }) => {
            starters.calls += 1
            return starters.answer(name)
          },
        },
        limits,
        users,
        allowList,
        sessions,
        changes,
        codes: createEmailCodes({ db, clock, vault }),
        devices: createDevices({ vault, clock, baseUrl: 'https://roost.example.com' }),
        baseUrl: 'https://roost.example',
        isVoiceOn: () => false,
        rateReport,
        asks: {
          asksOf: async () => [],
          answer: async () => assert.fail('no request is answered here'),
        },
      })
      const identify: Identify = (authorization) => world.identity.identify(authorization)
      const parts = { db, clock, vault, limits, events, area, chat, users, identify }
      return [...workspaceChatRoutes(built.workspace), ...more({ ...parts, workspace: built.workspace })]
    },
  })
  const workspace = built.workspace ?? assert.fail('the Workspace was not built')
  world.identity.changes.on((change) =>
    accessRevocation.recheckCallers((caller) => isTouched(caller, change)),
  )
  world.area.hooks.onDeleting((tx, { agent }) => workspace.agentDeleted(tx, agent.id))
  world.area.hooks.onDeleting((tx, { agent }) => chat.agentDeleted(tx, agent.id))
  const owner = await world.person('creator', 'ann@example.org')
  const created = await world.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
  assert.equal(created.status, 200)
  const { id: agentId } = await world.row('scout')
  runs.agents.set(agentId, agentFact({ id: agentId, name: 'scout' }))
  const linked = { agentId, agentName: 'scout', keyId: 'k' }

  const request = (token: string, method: string, path: string, body?: unknown, headers = {}) =>
    world.request(token, method, `${prefix}${path}`, body, headers)

  /** A session of a person, as the web UI has it. */
  async function session(userId: string): Promise<string> {
    const account = (await world.identity.users.find(userId)) ?? assert.fail('no such account')
    const entered = await world.identity.sessions.secondStep.enter(account, { mode: 'email' })
    assert.ok('session' in entered)
    return entered.session.access_token
  }

  /** Signs an address in with the mailed code. */
  async function signIn(email: string): Promise<string> {
    const sentCount = () => mail.sent.filter(({ to }) => to === email).length
    const before = sentCount()
    const requested = await request('', 'POST', '/auth/request', { email })
    assert.equal(requested.status, 200)
    await until(() => sentCount() > before, 'the code was sent')
    const code = /\d{6}/.exec(mail.sent.findLast(({ to }) => to === email)?.text ?? '')?.[0]
    const reply = await request('', 'POST', '/auth/verify', { email, code })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    return reply.json.token
  }

  async function claim() {
    const { runs: claimed } = await dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const run = claimed[0] ?? assert.fail('nothing was handed out')
    await dispatch.handlers.started(linked, { t: 'started', ...run, pid: 1 })
    return run
  }

  const waiting = async () =>
    (
      await db
        .withTables<{ executions: { id: string; status: string } }>()
        .selectFrom('executions')
        .select('id')
        .where('status', '=', 'queued')
        .execute()
    ).length > 0

  return {
    ...world,
    workspace,
    runs,
    mail,
    starters,
    owner,
    agentId,
    agentLink: world.link,
    /** The link that the Workspace uses. */
    chatLink: link,
    accessRevocation,
    request,
    /** Requests to the platform's own API. */
    platformRequest: world.request,
    session,
    signIn,
    claim,
    finish: (run: { execution_id: string; claim_token: number }, overrides: object = {}) =>
      dispatch.handlers.result(linked, resultOf(run, { response: 'hello', ...overrides })),
    share: (email: string) => world.request(owner.key, 'POST', '/api/agents/scout/share', { email }),
    setAccess: (email: string, access: 'read' | 'write') =>
      world.request(owner.key, 'PUT', `/api/agents/scout/share/${email}`, { access }),
    unshare: (email: string) => world.request(owner.key, 'DELETE', `/api/agents/scout/share/${email}`),
    /** Sends a message and lets the agent answer it. */
    async turn(token: string, body: object, overrides: object = {}, headers = {}) {
      const reply = request(token, 'POST', '/agents/scout/chat', body, headers)
      await until(waiting, 'the turn was accepted')
      const run = await claim()
      await dispatch.handlers.result(linked, resultOf(run, { response: 'hello', ...overrides }))
      return { ...(await reply), run }
    },
    waiting: () => until(waiting, 'a run waits'),
    deliver: (overrides: object = {}) =>
      db.atomically((tx) =>
        workspace.deliver(tx, {
          agentId,
          to: { email: 'sam@example.org' },
          text: 'the report',
          source: 'schedule',
          key: 'fire-1',
          executionId: 'x1',
          ...overrides,
        }),
      ),
    history: async (token: string, query = '') =>
      (await request(token, 'GET', `/agents/scout/history${query}`)).json as Loose,
  }
}

function lazy<T extends object>(get: () => T): T {
  return new Proxy({} as T, { get: (_, key) => get()[key as keyof T] })
}
