import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setImmediate as soon } from 'node:timers/promises'
import type { Role } from '@roost/contracts/kit/access'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { createIdempotency } from '../../foundation/idempotency/index.ts'
import { createLeases } from '../../foundation/leases/index.ts'
import { createOutbox } from '../../foundation/outbox/index.ts'
import { createAccessRevocation } from '../../http/access-revocation.ts'
import { createGuard } from '../../http/guard.ts'
import type { Route } from '../../http/route.ts'
import { createServer } from '../../http/serve.ts'
import { refuseAfter, refuseBefore, type SignedIn } from '../../identity/access/index.ts'
import { createWorld, openIdentity } from '../../identity/test/fixture.ts'
import { createAllowList } from '../../identity/users/index.ts'
import type { Locate } from '../../kit/addresses.ts'
import { createMeters } from '../../kit/platform-meters.ts'
import { secret } from '../../kit/secret.ts'
import { createFakeAgentImages } from '../../ports/agent-images/fake.ts'
import { type AgentRuntime, agentRuntimes } from '../../ports/agent-images/port.ts'
import { createFakeAgentLink } from '../../ports/agent-link/fake.ts'
import { createFakeEngine, type FakeOptions } from '../../ports/containers/fake.ts'
import type { Db } from '../../ports/database/port.ts'
import { createGit } from '../../ports/git/binary.ts'
import { createGitHub } from '../../ports/git-host/github.ts'
import { createFakeHost } from '../../ports/host/fake.ts'
import { silentLog } from '../../ports/log.ts'
import { openGitStore } from '../../ports/workspace-history/git-store.ts'
import { openLazily } from '../../ports/workspace-history/open.ts'
import { createTestAlerts } from '../../test/alerts.ts'
import { type AgentsArea, createAgentsArea } from '../area.ts'
import type { AgentsLaterAreas } from '../area-deps.ts'
import type { UsedEngine } from '../lifecycle/index.ts'
import { agentStore } from '../records/index.ts'

export const templatesFolder = resolve(import.meta.dirname, '../../../templates')

export type Shared = ReturnType<typeof createShared>

/** Parts that the processes of one platform share besides the database: clock, engine, images, ephemeral store. */
export function createShared(
  options: Pick<FakeOptions, 'canLayer' | 'engineId' | 'program' | 'runtimes'> = {},
) {
  const identity = createWorld()
  const images = createFakeAgentImages()
  const tags: string[] = []
  const knowTags = () => {
    for (const runtime of agentRuntimes) tags.push(images.tagFor(runtime as AgentRuntime).image)
  }
  knowTags()
  const engine = createFakeEngine({ clock: identity.clock, images: tags, ...options })
  return { ...identity, identity, images, engine, knowTags }
}

export type AgentsWorld = Awaited<ReturnType<typeof openAgents>>

const noLaterAreas: AgentsLaterAreas = {
  lastUseBy: async () => new Map(),
  activityOf: async () => ({ busy: false, timeline: [] }),
  contextOf: async () => new Map(),
  scheduleCounts: async () => new Map(),
  renewLeases: async () => {},
  runningSince: async () => new Map(),
  lockRuns: async () => [],
  stopRuns: async () => {},
  slotsOf: async () => ({ active: [], queued: 0 }),
  schedulesOf: async () => [],
  schedulesAbove: async () => [],
  isBreakerOpen: async () => false,
  finishedExecutions: async () => 0,
  skillsBlock: async () => null,
  skillsAtStart: async () => null,
  redeemTicket: async () => null,
}

/** Opens the agents area of one process with real parts, on a fake engine and fake links. */
export async function openAgents(
  db: Db & AsyncDisposable,
  options: {
    shared?: Shared
    /** The id of the installation at the engine. */
    install?: string
    /** Engines of running replicas. */
    usedEngines?: UsedEngine[]
    /** Default: other machines may share the database. */
    isOnlyMachine?: boolean
    needs?: Partial<AgentsLaterAreas>
    /** Left out: alerts are dropped. */
    alerts?: Alerts
    sshPorts?: { first: number; last: number }
    quota?: number
    /** In bytes. Default: unlimited. */
    historyQuota?: number
    historyTotalQuota?: number
    /** Default: a git host that does not answer. */
    git?: { url: string; repositories?: string[]; token?: string }
    sshEnabled?: boolean
    /** `ROOST_CONTAINER_RUNTIME`. */
    containerRuntime?: string
    /** Resolves the agents' outbound connections. Default: to this machine. */
    locate?: Locate
    /** Routes of areas to the right, which may need this area. */
    routes?: Route[] | ((area: AgentsArea) => Route[])
  } = {},
) {
  const shared = options.shared ?? createShared()
  const { clock, engine, images, ephemeral, vault } = shared
  const identity = await openIdentity(db, shared.identity)
  const containers = engine.containers(options.install ?? 'test')
  const link = createFakeAgentLink()
  const events = createOutbox({ db, ephemeral, log: silentLog, clock })
  const platform = { ceiling: 10, model: null as string | null, disk: 0, opened: [] as readonly string[] }
  const allowList = createAllowList({ db, clock })
  const accessRevocation = createAccessRevocation()
  const folder = await mkdtemp(join(tmpdir(), 'roost-agents-'))
  const host = createFakeHost()
  const near = { ok: true as const, addresses: ['127.0.0.1'] }
  const gitBaseUrl = options.git?.url ?? 'http://127.0.0.1:1'
  const history = openLazily(() =>
    openGitStore({ folder: join(folder, 'history'), path: process.env.PATH ?? '' }),
  )
  const area = createAgentsArea({
    db,
    clock,
    log: silentLog,
    meters: createMeters(),
    history,
    historySettings: {
      value: () => 0,
      retention: { admit: async () => ({ isAdmitted: true, isNew: false }) },
    },
    ephemeral,
    containers,
    host,
    usedEngines: async () => options.usedEngines ?? [],
    isOnlyMachine: options.isOnlyMachine ?? false,
    images,
    git: createGit({
      baseUrl: gitBaseUrl,
      mayBeInner: true,
      folder: join(folder, 'git'),
      path: process.env.PATH ?? '',
    }),
    openClosedNetwork: () => containers.ensureClosedNetwork(),
    platformAddresses: () => [':8001'],
    gitHost: createGitHub({ apiUrl: `${gitBaseUrl}/api/v3`, fetch }),
    outward: { gitHost: async () => near, agents: options.locate ?? (async () => near) },
    link,
    vault,
    events,
    leases: createLeases({ db, clock }),
    alerts: options.alerts ?? createTestAlerts().alerts,
    idempotency: createIdempotency({
      db,
      clock,
      log: silentLog,
      workState: async () => ({ state: 'void' }),
    }),
    users: identity.users,
    keys: identity.keys,
    changes: identity.changes,
    sessions: identity.sessions,
    allowAddress: (tx, email, by) =>
      allowList.allowAddress(tx, email, by.user.username, 'agent_sharing').then(() => {}),
    accessLost: accessRevocation.recheck,
    systemOwner: async () => (await identity.users.findLogin('admin'))?.account ?? null,
    platform: {
      parallelCeiling: async () => platform.ceiling,
      platformModel: async () => platform.model,
      sshEnabled: async () => options.sshEnabled ?? true,
      limitSsh: async () => {},
      defaultResources: async () => ({ cpu: '2', memory: '4g' }),
      agentQuota: async () => options.quota ?? 10,
      defaultDiskQuota: () => platform.disk,
      openedNetworks: () => platform.opened,
      putOpenedNetworks: async (opened) => {
        platform.opened = opened
      },
      mcpUrl: () => 'https://roost.example.org/mcp',
      limitKeys: async () => {},
      limitVerify: async () => {},
      limitCredentials: async () => {},
      gitRepositories: async () => options.git?.repositories ?? [],
      platformGitToken: () => null,
      ownGitTokenOf: async () => (options.git?.token ? secret(options.git.token) : null),
      gitTokenOf: async () => (options.git?.token ? secret(options.git.token) : null),
    },
    needs: { ...noLaterAreas, ...options.needs },
    options: {
      internalPort: 8001,
      tmpBytes: 512 * 1024 * 1024,
      sshBind: '127.0.0.1',
      containerPrefix: 'agent-',
      containerRuntime: options.containerRuntime ?? null,
      lostNodeSeconds: 60,
      evictionWaitSeconds: 900,
      sshPorts: options.sshPorts ?? { first: 2222, last: 2262 },
      sshHost: 'localhost',
      chatIdleSeconds: 600,
      stallSeconds: 900,
      diskSeconds: 60,
      historyQuotas: { agent: options.historyQuota ?? 0, total: options.historyTotalQuota ?? 0 },
      forkBasesBytes: 10 * 1024 ** 3,
      templatesFolder,
      templateContentFolder: join(folder, 'templates'),
      gitBaseUrl,
      agentsGitUrl: () => 'http://127.0.0.1:8001/git',
    },
  })
  identity.later.onConnectorKeyEnded = area.connectors.keyEnded
  await area.open()
  await area.lifecycle.compared()

  const { routes: others = [] } = options
  const server = createServer({
    routes: [...area.routes, ...(typeof others === 'function' ? others(area) : others)],
    accessRevocation,
    guard: createGuard({
      identify: identity.identify,
      agentAccess: area.agentAccess.resolveAgent,
      refuseBefore,
      refuseAfter,
    }),
    checkReplies: true,
    log: silentLog,
    // Lets tests choose the client address.
    trustedProxies: ['127.0.0.1'],
  })

  async function request(key: string, method: string, url: string, body?: unknown, headers = {}) {
    const reply = await server.inject({
      method: method as 'GET',
      url,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    })
    const isJson = reply.headers['content-type']?.toString().startsWith('application/json') ?? false
    // The server checks the reply's shape against the contract.
    // biome-ignore lint/suspicious/noExplicitAny: any reply
    const json: any = isJson ? reply.json() : null
    return { status: reply.statusCode, json, headers: reply.headers, bytes: reply.rawPayload }
  }

  return {
    ...shared,
    area,
    db,
    link,
    /** The store of records of workspaces. */
    history,
    containers,
    host,
    platform,
    identity,
    events,
    allowList,
    request,

    /** A new person with a `user` key and the caller of a session. */
    async person(role: Role = 'creator', username?: string) {
      const account = await identity.addUser(role, username)
      const user = { id: account.id, username: account.username, email: account.email, role }
      const session: SignedIn = {
        kind: 'session',
        user,
        session: { jti: 'test', mode: 'email', expires_at: '2031-01-01T00:00:00.000Z' },
      }
      const asKey: SignedIn = {
        kind: 'key',
        user,
        key: { id: 'k', name: 'k', scope: 'user', agent_id: null },
      }
      const { key } = await identity.keys.create(session, { name: 'test', scope: 'user' })
      return { ...user, session, asKey, key }
    },

    /** The agent's own key, as given to its container. */
    async agentKey(agentId: string): Promise<string> {
      const [key] = await area.runContexts.secrets(agentId)
      assert.ok(key)
      return key
    },

    /** Types of the stored events, in order. */
    async eventTypes(): Promise<string[]> {
      const rows = await db
        .withTables<{ outbox: { sequence: number; type: string } }>()
        .selectFrom('outbox')
        .select('type')
        .orderBy('sequence')
        .execute()
      return rows.map((row) => row.type)
    },

    /** Fields of the newest stored event of a type. */
    async lastEvent(type: string): Promise<Record<string, unknown>> {
      const row = await db
        .withTables<{ outbox: { sequence: number; type: string; fields: string } }>()
        .selectFrom('outbox')
        .select('fields')
        .where('type', '=', type)
        .orderBy('sequence', 'desc')
        .executeTakeFirstOrThrow()
      return JSON.parse(row.fields)
    },

    async row(name: string) {
      const agent = await agentStore(db).byName(name)
      assert.ok(agent, `there is an agent named ${name}`)
      return agent
    },

    /** Asserts that no agent has left a row, port, tag, key, leftover, container or volume. */
    async assertNothingLeft(): Promise<void> {
      const agents = await agentStore(db).all()
      assert.deepEqual(
        agents.filter((agent) => !agent.is_system).map((agent) => agent.name),
        [],
      )
      const tables = ['agent_ssh_ports', 'agent_tags', 'agent_shares', 'agent_leftovers'] as const
      for (const table of tables) {
        const rows = await db
          .withTables<Record<(typeof tables)[number], { agent_id: string }>>()
          .selectFrom(table)
          .selectAll()
          .execute()
        assert.deepEqual(rows, [], table)
      }
      const keys = await db
        .withTables<{ mcp_keys: { scope: string } }>()
        .selectFrom('mcp_keys')
        .select('scope')
        .where('scope', '=', 'agent')
        .execute()
      assert.deepEqual(keys, [], 'keys')
      assert.deepEqual(await containers.list(), [], 'containers')
      assert.deepEqual(await containers.listVolumes(), [], 'volumes')
    },

    async [Symbol.asyncDispose]() {
      await area.close()
      await history.close()
      await server.close()
      await identity[Symbol.asyncDispose]()
      await db[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Waits, turn by turn of the event loop, until background work has made the condition true. */
export async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = AbortSignal.timeout(60_000)
  while (!(await isTrue())) {
    if (deadline.aborted) assert.fail(`never came true: ${what}`)
    await soon()
  }
}
