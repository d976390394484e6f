import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startLiveServer } from '@roost/test-support/live/index'
import { createShared, openAgents, until } from '../../../agents/test/world.ts'
import { createIdempotency } from '../../../foundation/idempotency/index.ts'
import { createRateLimits } from '../../../foundation/rate-limits/index.ts'
import { createAccessRevocation } from '../../../http/access-revocation.ts'
import { serveSockets } from '../../../http/sockets.ts'
import { createDevices } from '../../../identity/devices/index.ts'
import { createEmailCodes } from '../../../identity/email-login/index.ts'
import { secret } from '../../../kit/secret.ts'
import { type Client, dial } from '../../../operations/sockets/test/client.ts'
import { createFakeAgentLink } from '../../../ports/agent-link/fake.ts'
import type { Db } from '../../../ports/database/port.ts'
import { silentLog } from '../../../ports/log.ts'
import { createFakeMailer } from '../../../ports/mail/fake.ts'
import { createGeminiVoice } from '../../../ports/voice/gemini/gemini.ts'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { agentFact, resultOf, startRunPlatform } from '../../../test/run-platform.ts'
import { chatRoutes, createChat } from '../../chat/index.ts'
import { createWorkspaceChat, type WorkspaceChat, workspaceChatRoutes } from '../../workspace-chat/index.ts'
import { createVoice, type Voice, voiceRoutes, voiceSocketRoutes } from '../index.ts'

export type VoiceWorld = Awaited<ReturnType<typeof openVoiceWorld>>

const providerKey = 'AIza-voice-canary'
const portal = '/api/enterprise/client-portal/agents/scout'

/**
 * An agent `scout` of the creator `ann`, whose runs the test executes, conversations with it, and a scripted voice
 * model.
 */
export async function openVoiceWorld(open: OpenTestDb) {
  const db = await open()
  const live = await startLiveServer({ key: providerKey })
  const shared = createShared()
  const { clock, ephemeral, vault } = shared
  const link = createFakeAgentLink()
  const accessRevocation = createAccessRevocation()
  const limits = createRateLimits({ ephemeral, clock })
  const key = { value: providerKey as string | null }
  const writes = { areRefused: false }
  const voiceKey = () => (key.value === null ? null : secret(key.value))
  const runs = await startRunPlatform({ db, clock, link, ephemeral })
  const { executions, dispatch, hooks, events } = runs
  const base = {
    db,
    clock,
    link,
    events,
    hooks,
    dispatch,
    executions,
    ephemeral,
    limits,
    accessRevocation,
    log: silentLog,
  }
  const idempotency = createIdempotency({ ...base, workState: async () => ({ state: 'void' }) })
  const chat = createChat({ ...base, idempotency, agentName: async () => null })
  const built: { workspaceChat?: WorkspaceChat; voice?: Voice } = {}

  const world = await openAgents(db, {
    shared,
    routes: ({ agentRecords, agentAccess, workspace }) => {
      // `world` does not exist yet; its parts are resolved on first use.
      const { users, allowList, sessions, keys, changes } = lazyOf(() => world.identity)
      const workspaceChat = createWorkspaceChat({
        ...{ ...base, idempotency, agentRecords, agentAccess, workspace },
        ...{ users, allowList, sessions, changes },
        mail: createFakeMailer(),
        isExchangeEntitled: false,
        isVoiceOn: () => key.value !== null,
        playbooks: { starters: async () => [] },
        descriptionOf: async () => null,
        codes: createEmailCodes({ db, clock, vault }),
        devices: createDevices({ vault, clock, baseUrl: 'https://roost.example.com' }),
        baseUrl: 'https://roost.example',
        rateReport: async () => assert.fail('no report is rated here'),
        asks: { asksOf: async () => [], answer: async () => assert.fail('no request is answered here') },
      })
      const voice = createVoice({
        ...{ ...base, agentRecords, agentAccess, sessions, keys, voiceKey },
        db: withRefusedWrites(db, writes),
        principals: workspaceChat.principals,
        roster: workspaceChat.roster,
        markHeard: workspaceChat.conversations.markHeard,
        voice: createGeminiVoice({ baseUrl: live.url, model: 'gemini-3.8-live' }),
      })
      Object.assign(built, { workspaceChat, voice })
      return [
        ...chatRoutes(chat),
        ...workspaceChatRoutes(workspaceChat),
        ...voiceRoutes(voice, { sessions: chat.sessions, workspaceChat, agentRecords }),
      ]
    },
  })
  const voice = built.voice ?? assert.fail('voice was not built')
  world.area.hooks.onDeleting((tx, { agent }) => voice.agentDeleted(tx, agent.id))
  world.area.hooks.onDeleting((tx, { agent }) => chat.agentDeleted(tx, agent.id))
  await voice.open()
  const server = createServer()
  const served = serveSockets(server, voiceSocketRoutes(voice), silentLog)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socketUrl = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`

  const owner = await world.person('creator', 'ann@example.org')
  assert.equal((await world.request(owner.key, 'POST', '/api/agents', { name: 'scout' })).status, 200)
  const { id: agentId } = await world.row('scout')
  runs.agents.set(agentId, agentFact({ id: agentId, name: 'scout' }))
  const linked = { agentId, agentName: 'scout', keyId: 'k' }

  const request = (as: string, method: string, path: string, body?: unknown) =>
    world.request(as, method, path.startsWith('/api') ? path : `/api/agents/scout/voice${path}`, body)

  async function start(as = owner.key, body: object = {}) {
    const reply = await request(as, 'POST', '/start', body)
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    return reply.json as { voice_session_id: string; websocket_url: string; chat_session_id: string }
  }

  /** A connected call: the person's socket and the model's session. */
  async function call(as = owner.key, started?: { voice_session_id: string; websocket_url: string }) {
    const { voice_session_id, websocket_url, ...rest } = started ?? (await start(as))
    const client = await dial(`${socketUrl}${websocket_url}`)
    const model = await live.session()
    await client.next(({ type, state }) => type === 'status' && state === 'listening')
    const { chat_session_id } = rest as { chat_session_id: string }
    return { id: voice_session_id, client, model, chat_session_id }
  }

  /** Claims the next run as the agent program does. */
  async function claim() {
    const hasQueued = async () => (await openRuns()).some(({ status }) => status === 'queued')
    await until(hasQueued, 'a run waits')
    const { runs: claimed } = await dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const run = claimed[0] ?? assert.fail('nothing was handed out')
    await dispatch.handlers.started(linked, { t: 'started', ...run, pid: 1 })
    return run
  }

  const calls = () =>
    db
      .withTables<{ voice_calls: { id: string; ended_at: string | null; end_reason: string | null } }>()
      .selectFrom('voice_calls')
      .selectAll()
      .execute()

  const openRuns = () =>
    db
      .withTables<{ executions: { id: string; status: string } }>()
      .selectFrom('executions')
      .selectAll()
      .execute()

  return {
    ...world,
    live,
    key,
    accessRevocation,
    voice,
    runs,
    agentId,
    owner,
    socketUrl,
    request,
    start,
    call,
    dial: (path: string): Promise<Client> => dial(`${socketUrl}${path}`),
    claim,
    finish: (run: { execution_id: string; claim_token: number }, overrides: object = {}) =>
      dispatch.handlers.result(linked, resultOf(run, { response: 'It is noon.', ...overrides })),
    share: (email: string) => world.request(owner.key, 'POST', '/api/agents/scout/share', { email }),

    /** A session of a person, as the web UI has it. */
    async session(userId: string): Promise<string> {
      const account = (await world.identity.users.find(userId)) ?? assert.fail('no such account')
      const entered = await world.identity.sessions.secondStep.enter(account, { mode: 'email' })
      assert.ok('session' in entered)
      return entered.session.access_token
    },
    portal: (token: string, method: string, path: string, body?: unknown) =>
      world.request(token, method, `${portal}${path}`, body),

    /** The messages of the conversation, in order. */
    async messages(sessionId: string, as = owner.key) {
      const reply = await world.request(as, 'GET', `/api/agents/scout/sessions/${sessionId}`)
      assert.equal(reply.status, 200)
      return reply.json.messages as Message[]
    },
    calls,
    /** Resolves when the call has ended, and checks the reason. */
    async expectEnded(id: string, reason: string) {
      const row = async () => (await calls()).find((call) => call.id === id)
      await until(async () => (await row())?.ended_at != null, 'the call is over')
      assert.equal((await row())?.end_reason, reason)
    },
    unshare: (email: string) => world.request(owner.key, 'DELETE', `/api/agents/scout/share/${email}`),
    /** Makes transactions fail; call the result to restore them. */
    breakDatabase: () => {
      writes.areRefused = true
      return () => {
        writes.areRefused = false
      }
    },

    async [Symbol.asyncDispose]() {
      served.close()
      await voice.close()
      server.close()
      await live[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

// Tests read replies field by field; the server validates their shapes.
// biome-ignore lint/suspicious/noExplicitAny: any reply
export type Message = any

/** A database whose transactions fail while `areRefused` is set. */
function withRefusedWrites(db: Db, writes: { areRefused: boolean }): Db {
  return {
    ...db,
    atomically: async (work) => {
      if (writes.areRefused) throw new Error('The database is away.')
      return db.atomically(work)
    },
  }
}

/** Resolves each part when it is used. */
function lazyOf<T extends object>(get: () => T): T {
  const part = (name: string | symbol) =>
    new Proxy(
      {},
      { get: (_, key) => (get() as Record<typeof name, Record<typeof key, unknown>>)[name]?.[key] },
    )
  return new Proxy({} as T, { get: (_, name) => part(name) })
}
