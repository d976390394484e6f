import type { AgentsArea } from '../agents/area.ts'
import { historyStore } from '../agents/history/index.ts'
import type { Loop } from '../background/loops.ts'
import type { Idempotency, WorkStates } from '../foundation/idempotency/index.ts'
import type { Outbox } from '../foundation/outbox/index.ts'
import type { Settings, SweepDeps, TestProvider } from '../foundation/settings/index.ts'
import type { Route } from '../http/route.ts'
import type { SignedIn } from '../identity/access/index.ts'
import { type RunKeys, runOf } from '../identity/run-keys/index.ts'
import type { Clock } from '../kit/clock.ts'
import type { AgentLink } from '../ports/agent-link/port.ts'
import type { Db } from '../ports/database/port.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import type { Log } from '../ports/log.ts'
import { type AgentView, createAgentView } from './agent-view/index.ts'
import { analyticsRoutes, createAnalytics } from './analytics/index.ts'
import { type AttemptsDeps, attemptRoutes, createAttemptSpending, createAttempts } from './attempts/index.ts'
import {
  type Breakers,
  breakerRoutes,
  createBreakers,
  createDispatchBreaker,
  createTransportBreaker,
  type TransportBreaker,
} from './breaker/index.ts'
import { type Broker, type BrokerDeps, createBroker } from './broker/index.ts'
import {
  createDispatch,
  createQueue,
  type Dispatch,
  type DispatchDeps,
  dispatchRoutes,
  queueRoutes,
} from './dispatch/index.ts'
import {
  createExecutions,
  createRunHooks,
  type Executions,
  type ExecutionsDeps,
  executionRoutes,
  type RunHooks,
} from './executions/index.ts'
import { createFanOuts, fanOutRoutes } from './fan-out/index.ts'
import {
  createFleetCosts,
  createFleetExecutions,
  type FleetCostsDeps,
  type FleetExecutionsDeps,
  fleetExecutionRoutes,
} from './fleet-executions/index.ts'
import { createLoops, loopRoutes } from './loops/index.ts'
import { createPlaybooks, type Playbooks, playbookRoutes } from './playbooks/index.ts'
import { createPrices, type Prices, priceRoutes } from './prices/index.ts'
import {
  createProviderSubscriptions,
  type ProviderSubscriptions,
  type ProviderSubscriptionsDeps,
  providerSubscriptionRoutes,
} from './provider-subscriptions/index.ts'
import { createRunRemoval, logRetention, runRetention } from './retention/index.ts'
import { runChangesRoutes } from './run-changes/index.ts'
import { createRunViews, runViewRoutes } from './run-views/index.ts'
import { createSpendCaps, type SpendCaps, spendCapRoutes } from './spend-caps/index.ts'
import { createTasks, type TasksDeps, taskRoutes } from './tasks/index.ts'
import { createLive, type Live } from './transcripts/index.ts'

/** The parts that exist before the agents area, because that area uses them. */
export type RunRecords = {
  /** The link to agents, watched by the transport breaker. */
  link: AgentLink
  transportBreaker: TransportBreaker
  live: Live
  hooks: RunHooks
  executions: Executions
  view: AgentView
  breakers: Breakers
  broker: Broker
  spendCaps: SpendCaps
  prices: Prices
  providerSubscriptions: ProviderSubscriptions
  isPlatformEnabled(): boolean
  /** Silence after which a waiting response sends something. */
  keepaliveSeconds: number
}

export type RunRecordsDeps = Omit<
  BrokerDeps,
  'events' | 'monotonic' | 'spendRefusal' | 'subscription' | 'prices'
> &
  Pick<ProviderSubscriptionsDeps, 'vault' | 'alerts' | 'isAutoSwitchOn'> & {
    clock: Clock
    settings: Pick<Settings, 'modelPrices'>
    ephemeral: Ephemeral
    events: Pick<Outbox, 'append' | 'signal' | 'on'>
    hub: AgentLink
    accountName: ExecutionsDeps['accountName']
    keepaliveSeconds: number
    /** Whether the platform setting enables dispatch breakers at all. */
    isPlatformEnabled(): boolean
  }

/** The records of runs and the features that only read them. */
export function createRunRecords(deps: RunRecordsDeps): RunRecords {
  const { db, clock, log, ephemeral, events, hub, isPlatformEnabled, keepaliveSeconds } = deps
  const transportBreaker = createTransportBreaker({ db, clock, log })
  const link = transportBreaker.watch(hub)
  const live = createLive({ ephemeral, log })
  const hooks = createRunHooks()
  const executions = createExecutions({
    ...{ db, clock, events, link, live, hooks, keepaliveSeconds },
    accountName: deps.accountName,
  })
  const spendCaps = createSpendCaps({ db, clock, events, attempts: createAttemptSpending({ db }) })
  const providerSubscriptions = createProviderSubscriptions(deps)
  const prices = createPrices(deps)
  return {
    link,
    transportBreaker,
    live,
    hooks,
    executions,
    view: createAgentView({ db, clock, executions }),
    breakers: createBreakers({ db, clock, isPlatformEnabled }),
    broker: createBroker({
      ...deps,
      monotonic: () => performance.now(),
      prices,
      spendRefusal: spendCaps.refusal,
      subscription: providerSubscriptions.inUse,
    }),
    spendCaps,
    prices,
    providerSubscriptions,
    isPlatformEnabled,
    keepaliveSeconds,
  }
}

export type RunsAreaDeps = Pick<TasksDeps, 'joinConversation' | 'agentName'> &
  Pick<DispatchDeps, 'alerts'> &
  Pick<DispatchDeps, 'platformPrompt' | 'queueDepth' | 'mayBegin'> &
  Pick<FleetExecutionsDeps, 'scheduleCounts' | 'accountIdOf'> &
  Pick<FleetCostsDeps, 'accountName' | 'dailyLimitUsd'> & {
    /** Tests a credential with its provider. */
    testProvider: TestProvider
    db: Db
    clock: Clock
    log: Log
    events: Pick<Outbox, 'append' | 'appendAll' | 'signal' | 'on' | 'trimBefore'>
    idempotency: Pick<Idempotency, 'enter'>
    works: Pick<WorkStates, 'register'>
    records: RunRecords
    runKeys: Pick<RunKeys, 'mint'>
    /** Settings of the platform; those of agents are in `agents`. */
    platformSettings: SweepDeps['settings']
    agents: Pick<
      AgentsArea,
      | 'agentRecords'
      | 'agentAccess'
      | 'historyReader'
      | 'settings'
      | 'runContexts'
      | 'hooks'
      | 'lifecycle'
      | 'ask'
      | 'connectors'
      | 'history'
      | 'agentManagement'
      | 'forks'
      | 'bases'
    >
    leases: AttemptsDeps['leases']
    users: AttemptsDeps['users']
    workspaceHistory: AttemptsDeps['workspaceHistory']
    hasSeveralMachines: AttemptsDeps['hasSeveralMachines']
  }

export type RunsArea = {
  dispatch: Dispatch
  playbooks: Playbooks
  /**
   * Ends every loop and every attempt of the agent, and cancels every open run; returns the number of runs. The agent is not
   * notified, because it is stopped next.
   */
  halt(agentId: string, by: SignedIn): Promise<number>
  /** Deletes the runs of deleted agents. */
  removeRuns: ReturnType<typeof createRunRemoval>
  routes: Route[]
  loops: Loop[]
  close(): Promise<void>
}

/** Wires the features that create, hand out and end runs, and their hooks on the life of an agent. */
export function createRunsArea(deps: RunsAreaDeps): RunsArea {
  const { db, clock, log, records, agents, works } = deps
  const { hooks, executions, breakers, broker, live } = records
  const { agentRecords, settings } = agents

  const dispatch = createDispatch({
    ...deps,
    ...records,
    runContexts: agents.runContexts,
    recording: agents.history.recording,
    settle: executions.settle,
    breaker: createDispatchBreaker({
      clock,
      hooks,
      settle: executions.settle,
      isPlatformEnabled: records.isPlatformEnabled,
      alerts: deps.alerts,
    }),
    brokerAccess: (row) => broker.access(row),
    async runKeysOf(agentId) {
      const keyId = (await agentRecords.byId(agentId))?.agent_key_id ?? null
      return (row) => (keyId === null ? '' : deps.runKeys.mint(runOf(row), keyId, row.principal ?? ''))
    },
  })
  const loops = createLoops({
    ...deps,
    dispatch,
    hooks,
    agentRecords,
    agentAccess: agents.agentAccess,
    runContexts: agents.runContexts,
  })
  agents.lifecycle.hooks.onStopping((tx, agent) => dispatch.agentStopped(tx, agent.id))
  // Loops before their runs, the same lock order as in their steps.
  agents.hooks.onDeleting((tx, { agent }) => loops.agentDeleted(tx, agent.id))
  agents.hooks.onDeleting((tx, { agent }) => dispatch.agentDeleted(tx, agent.id))
  agents.hooks.onForked(async (tx, { source, fork }) => {
    await records.spendCaps.copy(tx, source.id, fork.id)
    await records.providerSubscriptions.copy(tx, source.id, fork.id)
    return {}
  })
  agents.hooks.onAccessEnded(dispatch.accessEnded)
  agents.hooks.onDeleting((tx, { agent }) => breakers.forget(tx, agent.id))
  hooks.onRemoving((tx, ids) => historyStore(tx).removeRuns(ids))
  hooks.onEnded(async (tx, { status, triggered_by, agent_id: agentId, id: executionId }) => {
    if (status === 'failed' && triggered_by !== 'validation')
      await agents.history.restores.undoFailed(tx, { agentId, executionId })
  })
  agents.hooks.onRenamed((tx, { agent, newName }) => executions.agentRenamed(tx, agent.id, newName))

  const tasks = createTasks({ ...deps, dispatch, executions })
  works.register(tasks.workState)
  const fanOuts = createFanOuts({ ...deps, live, hooks, dispatch })
  works.register(fanOuts.workState)
  works.register(loops.workState)
  const playbooks = createPlaybooks(agents)
  const queue = createQueue({ db, settle: executions.settle })
  const hiddenAgents = async () =>
    (await agentRecords.everyRow()).flatMap(({ id, attempt_set_id }) => (attempt_set_id === null ? [] : id))
  const fleet = createFleetExecutions({
    ...deps,
    hiddenAgents,
    agentAccess: agents.agentAccess,
    effectiveParallel: settings.effectiveParallel,
    breakers,
  })
  const costs = createFleetCosts({
    ...deps,
    hiddenAgents,
    agentAccess: agents.agentAccess,
    dailyCaps: records.spendCaps.daily,
  })

  const attempts = createAttempts({
    ...{ db, clock, log, dispatch, hooks },
    ...{ events: deps.events, leases: deps.leases, users: deps.users },
    link: records.link,
    ...{ agentRecords, agentManagement: agents.agentManagement, agentHooks: agents.hooks },
    ...{ forks: agents.forks, bases: agents.bases, history: agents.history },
    workspaceHistory: deps.workspaceHistory,
    hasSeveralMachines: deps.hasSeveralMachines,
    secretsOf: agents.runContexts.secrets,
  })
  const sweeps = { ...deps, settings: deps.platformSettings }

  return {
    dispatch,
    playbooks,
    removeRuns: createRunRemoval({ ...deps, hooks }),
    async halt(agentId, by) {
      await loops.halt(agentId)
      await attempts.halt(agentId)
      return queue.cancelOpen(agentId, by)
    },
    routes: [
      ...spendCapRoutes(records.spendCaps),
      ...priceRoutes(records.prices),
      ...providerSubscriptionRoutes({
        subscriptions: records.providerSubscriptions,
        testProvider: deps.testProvider,
      }),
      ...breakerRoutes({ breakers, agentRecords, settings }),
      ...executionRoutes(executions, log),
      ...fleetExecutionRoutes(fleet, costs),
      ...runChangesRoutes({
        db,
        agentRecords,
        agentAccess: agents.agentAccess,
        history: agents.historyReader,
      }),
      ...runViewRoutes(createRunViews({ db, clock, agentAccess: agents.agentAccess })),
      ...analyticsRoutes(createAnalytics({ db, clock })),
      ...dispatchRoutes(dispatch, executions),
      ...taskRoutes(tasks),
      ...playbookRoutes({ playbooks, tasks, agentRecords }),
      ...attemptRoutes(attempts),
      ...fanOutRoutes(fanOuts, { clock, everySeconds: records.keepaliveSeconds }),
      ...loopRoutes(loops),
      ...queueRoutes(queue),
    ],
    loops: [
      ...records.providerSubscriptions.loops,
      ...dispatch.loops,
      ...fanOuts.loops,
      ...attempts.loops,
      ...loops.loops,
      logRetention(sweeps),
      runRetention({ ...sweeps, hooks, events: deps.events }),
    ],
    async close() {
      await attempts.close()
      await fanOuts.settled()
      await loops.close()
    },
  }
}
