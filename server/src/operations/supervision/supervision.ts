import type { AgentAccess } from '../../agents/access/index.ts'
import type { AgentGit } from '../../agents/git/index.ts'
import type { Health } from '../../agents/health/index.ts'
import type { Lifecycle } from '../../agents/lifecycle/index.ts'
import type { AgentHooks } from '../../agents/management/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Leases } from '../../foundation/leases/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Settings } from '../../foundation/settings/index.ts'
import type { Route } from '../../http/route.ts'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { AgentView } from '../../runs/agent-view/index.ts'
import type { Breakers } from '../../runs/breaker/index.ts'
import type { ProviderSubscriptions } from '../../runs/provider-subscriptions/index.ts'
import type { Schedules } from '../../triggers/schedules/index.ts'
import { type BulkActionsDeps, bulkActionRoutes, createBulkActions } from '../bulk-actions/index.ts'
import { checkRetention, createMonitoring, monitoringRoutes } from '../monitoring/index.ts'
import { alertRoutes, type OperatorQueue } from '../operator-queue/index.ts'

export type SupervisionDeps = {
  db: Db
  clock: Clock
  log: Log
  leases: Leases
  outbox: Pick<Outbox, 'append' | 'signal' | 'on'>
  settings: Pick<Settings, 'value' | 'retention' | 'monitoring'>
  agents: {
    agentRecords: AgentRecords
    agentAccess: AgentAccess
    health: Health
    git: AgentGit
    lifecycle: Lifecycle
    hooks: Pick<AgentHooks, 'onDeleting'>
  }
  records: {
    breakers: Breakers
    link: AgentLink
    view: Pick<AgentView, 'contextOf'>
    providerSubscriptions: Pick<ProviderSubscriptions, 'auth' | 'list'>
    isPlatformEnabled(): boolean
  }
  runs: { halt: BulkActionsDeps['haltRuns'] }
  schedules: Pick<Schedules, 'admin'>
  operatorQueue: OperatorQueue
}

export type Supervision = { routes: Route[]; loops: Loop[]; close(): void }

export function createSupervision(deps: SupervisionDeps): Supervision {
  const { agents, records, operatorQueue, settings } = deps
  const dailyLimit = () => settings.value('ops_cost_limit_daily_usd')
  const monitoring = createMonitoring({
    ...deps,
    ...agents,
    ...records,
    events: deps.outbox,
    alerts: operatorQueue,
    alertsOf: operatorQueue.alerts.ofAgent,
    contextOf: records.view.contextOf,
    settings: settings.monitoring,
    monotonic: () => performance.now(),
    dailyLimit,
    longRunSeconds: () => settings.value('ops_max_execution_minutes') * 60,
  })
  const fleet = createBulkActions({
    ...deps,
    ...agents,
    events: deps.outbox,
    monitoring,
    dailyLimit,
    haltRuns: deps.runs.halt,
    schedules: deps.schedules.admin,
    subscriptions: records.providerSubscriptions,
  })
  agents.hooks.onDeleting((tx, { agent }) => monitoring.agentDeleted(tx, agent.id))
  return {
    routes: [
      ...bulkActionRoutes(fleet),
      ...monitoringRoutes(monitoring, agents.agentRecords),
      ...alertRoutes(operatorQueue, deps.clock),
    ],
    loops: [...monitoring.loops, checkRetention({ ...deps, raiseAlert: operatorQueue.raiseAlert })],
    close: fleet.acts.close,
  }
}
