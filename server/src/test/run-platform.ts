import { createHmac } from 'node:crypto'
import type { AgentSettings, RuntimeName } from '@roost/contracts/link/messages'
import type { Resolved } from '../agents/access/index.ts'
import { createOutbox, type Outbox } from '../foundation/outbox/index.ts'
import type { Settings } from '../foundation/settings/index.ts'
import { createThrowawayVault } from '../foundation/vault/index.ts'
import type { SessionCaller } from '../identity/access/caller.ts'
import { type Clock, timestamp } from '../kit/clock.ts'
import { createMeters, type Meters } from '../kit/platform-meters.ts'
import { secret } from '../kit/secret.ts'
import { createFakeAgentLink } from '../ports/agent-link/fake.ts'
import type { AgentLink } from '../ports/agent-link/port.ts'
import type { Db } from '../ports/database/port.ts'
import { memoryEphemeral } from '../ports/ephemeral/memory.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import { type Log, silentLog } from '../ports/log.ts'
import { createAttemptSpending } from '../runs/attempts/index.ts'
import { createDispatchBreaker } from '../runs/breaker/index.ts'
import { type Broker, createBroker } from '../runs/broker/index.ts'
import {
  createDispatch,
  type Dispatch,
  type DispatchDeps,
  type RunContext,
  type RunContexts,
  type RunRequest,
  sourceOf,
} from '../runs/dispatch/index.ts'
import {
  createExecutions,
  createRunHooks,
  type ExecutionRow,
  type Executions,
  executionStore,
  type RunHooks,
} from '../runs/executions/index.ts'
import { createPrices, type Prices } from '../runs/prices/index.ts'
import {
  createProviderSubscriptions,
  type ProviderSubscriptions,
} from '../runs/provider-subscriptions/index.ts'
import { createSpendCaps, type SpendCaps } from '../runs/spend-caps/index.ts'
import { createLive, type Live } from '../runs/transcripts/index.ts'
import { createTestAlerts } from './alerts.ts'
import { createTestClock } from './clock.ts'

/** The runs area on a real database, with agents defined by the test. */
export type RunPlatform = {
  db: Db
  clock: Clock
  events: Outbox
  live: Live
  link: AgentLink
  hooks: RunHooks
  executions: Executions
  dispatch: Dispatch
  broker: Broker
  meters: Meters
  spendCaps: SpendCaps
  prices: Prices
  providerSubscriptions: ProviderSubscriptions
  agents: Map<string, RunContext>
  runContexts: RunContexts
  /** The runtime of all agents. */
  runtime: { name: RuntimeName }
  /** Agents with a stop request in their record, even if `agents` still lists them as running. */
  stopRequested: Set<string>
  /** Agents that may not start runs yet, because their skills are not delivered. */
  awaitsSkills: Set<string>
  /** Principals by id; others may write. */
  principals: Map<string, Resolved>
  /** Texts to mask in transcripts. */
  secrets: string[]
  row(id: string): Promise<ExecutionRow>
}

export type RunPlatformOptions = {
  db: Db
  clock?: Clock
  link?: AgentLink
  ephemeral?: Ephemeral
  queueDepth?: number
  providerKey?: string | null
  providerUrl?: string
  /** The setting of the platform; off by default. */
  isBreakerEnabled?: () => boolean
  /** Left out: alerts are dropped. */
  alerts?: DispatchDeps['alerts']
  /** The setting `subscription_auto_switch`; on by default. */
  isAutoSwitchOn?: () => boolean
  log?: Log
  /** Left out: workspaces are not recorded. */
  recording?: DispatchDeps['recording']
}

export async function startRunPlatform(options: RunPlatformOptions): Promise<RunPlatform> {
  const { db, clock = createTestClock(), link = createFakeAgentLink(), queueDepth = 50 } = options
  const ephemeral = options.ephemeral ?? memoryEphemeral({ clock, log: silentLog })
  const log = options.log ?? silentLog
  const events = createOutbox({ db, ephemeral, log, clock })
  const live = createLive({ ephemeral, log })
  await live.open()
  const hooks = createRunHooks()
  const agents = new Map<string, RunContext>([['a1', agentFact()]])
  const stopRequested = new Set<string>()
  const { alerts = createTestAlerts().alerts } = options
  const awaitsSkills = new Set<string>()
  const secrets: string[] = []
  const principals = new Map<string, Resolved>()
  const { providerKey = 'provider-key-1' } = options
  const runtime: RunPlatform['runtime'] = { name: 'claude-code' }
  const spendCaps = createSpendCaps({ db, clock, events, attempts: createAttemptSpending({ db }) })
  const keyOf = () => (providerKey === null ? null : secret(providerKey))
  const providerSubscriptions = createProviderSubscriptions({
    db,
    clock,
    events,
    vault: createThrowawayVault(),
    providerKey: keyOf,
    alerts,
    isAutoSwitchOn: options.isAutoSwitchOn ?? (() => true),
  })
  const prices = createPrices({ log, settings: { modelPrices: createTestModelPrices(clock) } })
  const meters = createMeters()
  const broker = createBroker({
    meters,
    db,
    log,
    clock,
    prices,
    events,
    mac: (text) => createHmac('sha256', 'test').update(text).digest('base64url'),
    brokerUrl: () => 'http://platform/broker',
    providerKey: keyOf,
    subscription: providerSubscriptions.inUse,
    runtimeOf: async () => runtime.name,
    providerBaseUrl: () => options.providerUrl ?? 'http://127.0.0.1:1',
    monotonic: () => performance.now(),
    spendRefusal: (run) => spendCaps.refusal(run),
  })
  const executions = createExecutions({
    ...{ db, clock, events, link, live, hooks, keepaliveSeconds: 15 },
    accountName: async (id) => `account ${id}`,
  })
  const runContexts: RunContexts = {
    find: async (id) => agents.get(id) ?? null,
    isClosedForRuns: async (_tx, id) => stopRequested.has(id),
    exists: async (_tx, id) => agents.has(id),
    callableAgentNames: async () => [],
    skillsBlock: async () => null,
    settings: async (id) => (agents.has(id) ? agentSettings : null),
    secrets: async () => secrets,
    principal: async (_agentId, id) => principals.get(id) ?? { id, access: 'write', credentials: true },
  }
  const dispatch = createDispatch({
    recording: options.recording ?? null,
    db,
    clock,
    log,
    events,
    live,
    link,
    hooks,
    alerts,
    runContexts,
    brokerAccess: (row) => broker.access(row),
    runKeysOf: async (agentId) => (row) => `svc_mcp_run_${agentId}.${row.id}`,
    platformPrompt: async () => null,
    queueDepth,
    mayBegin: (id) => !awaitsSkills.has(id),
    settle: executions.settle,
    breaker: createDispatchBreaker({
      clock,
      hooks,
      settle: executions.settle,
      isPlatformEnabled: options.isBreakerEnabled ?? (() => false),
      alerts,
    }),
  })
  return {
    db,
    clock,
    events,
    live,
    link,
    hooks,
    executions,
    dispatch,
    broker,
    meters,
    spendCaps,
    prices,
    providerSubscriptions,
    agents,
    runtime,
    runContexts,
    stopRequested,
    awaitsSkills,
    principals,
    secrets,
    async row(id) {
      const row = await executionStore(db).byId(id)
      if (!row) throw new Error(`There is no execution ${id}.`)
      return row
    },
  }
}

/** An imported price table in memory. */
function createTestModelPrices(clock: Pick<Clock, 'now'>): Settings['modelPrices'] {
  let stored = { text: '', updatedAt: null as string | null }
  return {
    stored: () => stored,
    async put(text) {
      stored = { text, updatedAt: timestamp(clock.now()) }
    },
    async remove() {
      stored = { text: '', updatedAt: null }
    },
  }
}

export function agentFact(over: Partial<RunContext> = {}): RunContext {
  return {
    id: 'a1',
    name: 'scout',
    status: 'running',
    execution_timeout_seconds: 3600,
    effective_slots: 3,
    model: null,
    custom_instructions: null,
    disk_state: 'ok',
    ...over,
  }
}

const agentSettings: AgentSettings = {
  agent_name: 'scout',
  read_only: { enabled: false, blocked_patterns: [], allowed_patterns: [] },
  parallel_limit: 3,
  model: null,
  chat_idle_seconds: 600,
  stall_seconds: 900,
  disk_seconds: 60,
  way_out: null,
}

export function person(over: Partial<SessionCaller['user']> = {}): SessionCaller {
  return {
    kind: 'session',
    user: { id: 'u1', username: 'ann', email: 'ann@example.org', role: 'user', ...over },
    session: { jti: 'j', mode: 'email', expires_at: '2027-01-01T00:00:00.000Z' },
  }
}

/** Enqueues a run like a route. */
export async function accept(platform: RunPlatform, over: Partial<RunRequest> = {}): Promise<ExecutionRow> {
  const agent = await platform.dispatch.checkAgent(over.agentId ?? 'a1')
  const { row } = await platform.dispatch.transaction((tx) =>
    platform.dispatch.enqueue(tx, agent, {
      agentId: agent.id,
      kind: 'task',
      triggeredBy: 'manual',
      message: 'do it',
      source: sourceOf(person(), null),
      ...over,
    }),
  )
  return row
}

export const linked = { agentId: 'a1', agentName: 'scout', keyId: 'k1' }

/** Returns the report of an agent at the end of a run. */
export function resultOf(
  run: { execution_id: string; claim_token: number },
  over: Partial<Parameters<Dispatch['handlers']['result']>[1]> = {},
): Parameters<Dispatch['handlers']['result']>[1] {
  return {
    t: 'result',
    execution_id: run.execution_id,
    claim_token: run.claim_token,
    status: 'success',
    response: 'done',
    error: null,
    error_code: null,
    terminal_reason: 'completed',
    metadata: {},
    runtime_session_id: null,
    execution_time_ms: 0,
    last_line: 0,
    ...over,
  }
}
