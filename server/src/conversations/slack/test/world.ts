import assert from 'node:assert/strict'
import {
  type SlackServer,
  slackApp,
  slackEvent,
  slackHeaders,
  startSlack,
} from '@roost/test-support/slack/index'
import { createShared, openAgents } from '../../../agents/test/world.ts'
import { createIdempotency } from '../../../foundation/idempotency/index.ts'
import { createRateLimits } from '../../../foundation/rate-limits/index.ts'
import { createFakeAgentLink } from '../../../ports/agent-link/fake.ts'
import { createSlack } from '../../../ports/chat-platform/slack.ts'
import { silentLog } from '../../../ports/log.ts'
import { executionStore } from '../../../runs/executions/index.ts'
import type { OpenTestDb } from '../../../test/dialects.ts'
import { agentFact, resultOf, startRunPlatform } from '../../../test/run-platform.ts'
import { createChat } from '../../chat/index.ts'
import { createSlackConversations, type Slack, slackRoutes } from '../index.ts'
import { slackStore } from '../store.ts'
import type { SlackTables } from '../tables.ts'

export type SlackWorld = Awaited<ReturnType<typeof openSlackWorld>>

/** An agent `scout` of `ann`, bound to the channel `C0001`, and a Slack server over HTTP. */
export async function openSlackWorld(
  open: OpenTestDb,
  { isConnected = true, slack }: { isConnected?: boolean; slack?: SlackServer } = {},
) {
  const db = await open()
  const server = slack ?? (await startSlack())
  server.channels.set('C0001', { name: 'team', isMember: true })
  server.channels.set('C0002', { name: 'other', isMember: true })
  server.channels.set('C0003', { name: 'closed', isMember: false })
  const shared = createShared()
  const { clock, ephemeral, vault } = shared
  const link = createFakeAgentLink()
  const runs = await startRunPlatform({ db, clock, link, ephemeral, queueDepth: 5 })
  const { executions, dispatch, hooks, events } = runs
  const idempotency = createIdempotency({
    db,
    clock,
    log: silentLog,
    workState: async () => ({ state: 'void' }),
  })
  const chat = createChat({
    ...{ db, clock, link, events, hooks, dispatch, executions, idempotency },
    log: silentLog,
    agentName: async () => null,
  })
  const notedWorkspaces: (string | null)[] = []
  const built: { slack?: Slack } = {}
  const world = await openAgents(db, {
    shared,
    routes: ({ agentRecords }) => {
      built.slack = createSlackConversations({
        ...{ db, clock, vault, hooks, dispatch, agentRecords },
        log: silentLog,
        accessEnded: (tx, end) => dispatch.accessEnded(tx, end),
        limits: createRateLimits({ ephemeral, clock }),
        platform: createSlack({ apiUrl: server.url, fetch }),
        settings: { noteSlackWorkspace: async (name) => void notedWorkspaces.push(name) },
      })
      return slackRoutes(built.slack)
    },
  })
  const feature = built.slack ?? assert.fail('Slack was not built')
  world.area.hooks.onDeleting((tx, { agent }) => chat.agentDeleted(tx, agent.id))
  const admin = await world.person('admin')
  const owner = await world.person('creator', 'ann@example.org')
  const linkedAs = (agentId: string, agentName: string) => ({ agentId, agentName, keyId: 'k' })

  async function addAgent(name: string): Promise<string> {
    const created = await world.request(owner.key, 'POST', '/api/agents', { name })
    assert.equal(created.status, 200, created.bytes.toString())
    const { id } = await world.row(name)
    runs.agents.set(id, agentFact({ id, name }))
    return id
  }
  const agentId = await addAgent('scout')

  const connect = () =>
    world.request(admin.key, 'PUT', '/api/settings/slack', {
      signing_secret: slackApp.signingSecret,
      bot_token: slackApp.token,
    })
  const bind = (body: object, agent = 'scout') =>
    world.request(owner.key, 'PUT', `/api/agents/${agent}/slack/channel`, body)
  if (isConnected) {
    assert.equal((await connect()).status, 200)
    assert.equal((await bind({ channel_id: 'C0001', is_dm_default: true })).status, 200)
  }

  /** Sends bytes to the address that receives Slack's events. */
  const send = (body: string, headers: Record<string, string> = slackHeaders(body, clock.now())) =>
    world.request('', 'POST', '/api/public/slack/events', body, headers)
  const deliver = (event: object) => send(JSON.stringify(event))
  /** Delivers a message event and returns it, so that tests can repeat it. */
  async function say(event: Record<string, unknown>, over: Record<string, unknown> = {}) {
    const payload = slackEvent(event, over)
    const reply = await deliver(payload)
    assert.deepEqual([reply.status, reply.json], [200, { ok: true }])
    return payload
  }

  async function claim(id = agentId, name = 'scout') {
    const { runs: claimed } = await dispatch.handlers.claim(linkedAs(id, name), { t: 'claim', free: 1 })
    const run = claimed[0] ?? assert.fail('nothing was handed out')
    await dispatch.handlers.started(linkedAs(id, name), { t: 'started', ...run, pid: 1 })
    return run
  }
  const end = (run: { execution_id: string; claim_token: number }, over: object = {}) =>
    dispatch.handlers.result(linkedAs(agentId, 'scout'), resultOf(run, { response: 'hello', ...over }))

  const tables = db.withTables<SlackTables & { executions: { id: string; triggered_by: string } }>()
  return {
    ...world,
    slack: server,
    feature,
    runs,
    admin,
    owner,
    agentId,
    addAgent,
    notedWorkspaces,
    connect,
    bind,
    send,
    deliver,
    say,
    claim,
    end,
    posts: () => tables.selectFrom('slack_posts').selectAll().orderBy('created_at').orderBy('part').execute(),
    executions: () => tables.selectFrom('executions').select(['id', 'triggered_by']).execute(),
    run: (id: string) => executionStore(db).byId(id),
    addPosts: slackStore(db).addPosts,
    rowsOf: (table: keyof SlackTables) => tables.selectFrom(table).selectAll().execute(),
    idle: feature.idle,
    /** Runs the loop once. */
    flush: () => feature.loops.find(({ name }) => name === 'slack.posts')?.run(AbortSignal.any([])),
    async [Symbol.asyncDispose]() {
      await feature.close()
      await world[Symbol.asyncDispose]()
      if (!slack) await server.close()
    },
  }
}
