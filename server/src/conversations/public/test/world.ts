import assert from 'node:assert/strict'
import { createAvatars } from '../../../agents/avatars/index.ts'
import { createShared, openAgents, until } from '../../../agents/test/world.ts'
import { createIdempotency } from '../../../foundation/idempotency/index.ts'
import { createRateLimits } from '../../../foundation/rate-limits/index.ts'
import { createAccessRevocation } from '../../../http/access-revocation.ts'
import { createDevices } from '../../../identity/devices/index.ts'
import { createEmailCodes } from '../../../identity/email-login/index.ts'
import { createFakeAgentLink } from '../../../ports/agent-link/fake.ts'
import { silentLog } from '../../../ports/log.ts'
import { createFakeMailer } from '../../../ports/mail/fake.ts'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { agentFact, resultOf, startRunPlatform } from '../../../test/run-platform.ts'
import { chatRoutes, createChat } from '../../chat/index.ts'
import { createPublicChat, type PublicChat, publicRoutes } from '../index.ts'

// Tests read replies field by field; the server validates their shapes.
// biome-ignore lint/suspicious/noExplicitAny: any reply
export type Loose = any
export type Run = {
  execution_id: string
  claim_token: number
  message: string
  resume_session_id?: string | null
  principal: { id: string }
}

/** An agent `scout` of the creator `ann`, with runs, mail and public links. */
export async function openPublicWorld(open: OpenTestDb, { hasMail = true } = {}) {
  const db = await open()
  const shared = createShared()
  const { clock, ephemeral, vault } = shared
  const link = createFakeAgentLink()
  const mail = createFakeMailer()
  const accessRevocation = createAccessRevocation()
  const flag = { isOn: true }
  const runs = await startRunPlatform({ db, clock, link, ephemeral, queueDepth: 5 })
  const { executions, dispatch, hooks, events } = runs
  await events.relaying.start()
  const workState = async () => ({ state: 'void' as const })
  const idempotency = createIdempotency({ db, clock, log: silentLog, workState })
  const chat = createChat({
    ...{ db, clock, link, events, hooks, dispatch, executions, idempotency },
    log: silentLog,
    agentName: async () => null,
  })
  const built: { publicChat?: PublicChat } = {}
  const avatars = createAvatars({ db, clock, events })
  const world = await openAgents(db, {
    shared,
    routes: ({ agentRecords, agentManagement, hooks: { accessEnded } }) => {
      built.publicChat = createPublicChat({
        ...{
          db,
          clock,
          link,
          events,
          dispatch,
          executions,
          hooks,
          agentRecords,
          accessEnded,
          vault,
          accessRevocation,
        },
        log: silentLog,
        limits: createRateLimits({ ephemeral, clock }),
        codes: createEmailCodes({ db, clock, vault }),
        devices: createDevices({ vault, clock, baseUrl: 'https://roost.example.com' }),
        mail: hasMail ? mail : null,
        publicUrl: () => 'https://roost.example',
        isOn: () => flag.isOn,
        retentionDays: () => 30,
        descriptionOf: agentManagement.descriptionOf,
        pictureOf: avatars.of,
      })
      return [...publicRoutes(built.publicChat), ...chatRoutes(chat)]
    },
  })
  const publicChat = built.publicChat ?? assert.fail('public chat was not built')
  world.area.hooks.onAccessEnded(dispatch.accessEnded)
  world.area.hooks.onDeleting((tx, { agent }) => publicChat.agentDeleted(tx, agent.id))
  world.area.hooks.onDeleting((tx, { agent }) => chat.agentDeleted(tx, agent.id))
  const owner = await world.person('creator', 'ann@example.org')
  const created = await world.request(owner.key, 'POST', '/api/agents', { name: 'scout' })
  assert.equal(created.status, 200)
  const { id: agentId } = await world.row('scout')
  runs.agents.set(agentId, agentFact({ id: agentId, name: 'scout' }))
  const linked = { agentId, agentName: 'scout', keyId: 'k' }

  const visit = (method: string, path: string, body?: unknown, headers = {}) =>
    world.request('', method, `/api/public${path}`, body, headers)
  const manage = (method: string, path = '', body?: unknown, key = owner.key) =>
    world.request(key, method, `/api/agents/scout/public-links${path}`, body)

  async function newLink(body: object = {}): Promise<Loose> {
    const reply = await manage('POST', '', body)
    assert.equal(reply.status, 201, JSON.stringify(reply.json))
    return reply.json
  }

  const hasQueued = async (count = 1) =>
    (
      await db
        .withTables<{ executions: { id: string; status: string } }>()
        .selectFrom('executions')
        .select('id')
        .where('status', '=', 'queued')
        .execute()
    ).length >= count

  async function claim(): Promise<Run> {
    await until(hasQueued, 'a turn was queued')
    const { runs: claimed } = await dispatch.handlers.claim(linked, { t: 'claim', free: 1 })
    const run = claimed[0] ?? assert.fail('nothing was handed out')
    await dispatch.handlers.started(linked, { t: 'started', ...run, pid: 1 })
    return run
  }

  const end = (run: Run, overrides: object = {}) =>
    dispatch.handlers.result(linked, resultOf(run, { response: 'hello', ...overrides }))

  /** Sends a message and lets the agent answer `hello`. */
  async function turn(token: string, body: object, overrides: object = {}) {
    const reply = visit('POST', `/chat/${token}`, body)
    const run = await claim()
    await end(run, overrides)
    return { ...(await reply), run }
  }

  /** Verifies an address with the mailed code and returns the session token. */
  async function confirm(token: string, email: string): Promise<string> {
    const sentCount = () => mail.sent.filter(({ to }) => to === email).length
    const before = sentCount()
    assert.equal((await visit('POST', '/verify/request', { token, email })).status, 200)
    await until(() => sentCount() > before, 'the code was sent')
    const code = /\d{6}/.exec(mail.sent.findLast(({ to }) => to === email)?.text ?? '')?.[0]
    const reply = await visit('POST', '/verify/confirm', { token, email, code })
    assert.equal(reply.status, 200, JSON.stringify(reply.json))
    return reply.json.session_token
  }

  return {
    ...world,
    publicChat,
    runs,
    mail,
    avatars,
    flag,
    owner,
    agentId,
    linked,
    agentLink: link,
    visit,
    manage,
    newLink,
    claim,
    end,
    turn,
    confirm,
    waiting: hasQueued,
    /** Sends lines as the agent program does, numbered from `from`. */
    says: (run: Run, lines: Loose[], from = 1) =>
      dispatch.handlers.lines(linked, { t: 'lines', ...run, from, lines }),
    history: async (token: string, query = '', headers = {}) =>
      (await visit('GET', `/history/${token}${query}`, undefined, headers)).json as Loose,
    relay: () => events.relaying.pass(),
    async [Symbol.asyncDispose]() {
      await publicChat.close()
      await world[Symbol.asyncDispose]()
    },
  }
}
