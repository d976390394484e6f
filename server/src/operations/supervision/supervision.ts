import type { Directory } from '../../agents/directory/index.ts'
import type { AgentGit } from '../../agents/git/index.ts'
import type { Health } from '../../agents/health/index.ts'
import type { Reach } from '../../agents/reach/index.ts'
import type { RegistryHooks } from '../../agents/registry/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Settings } from '../../foundation/settings/index.ts'
import type { Route } from '../../http/route.ts'
import type { Clock } from '../../kit/clock.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { AgentView } from '../../runs/agent-view/index.ts'
import type { Breakers } from '../../runs/breaker/index.ts'
import { checkRetention, createMonitoring, monitoringRoutes } from '../monitoring/index.ts'
import { alertRoutes, type OperatorQueue } from '../operator-queue/index.ts'

export type SupervisionDeps = {
  db: Db
  clock: Clock
  log: Log
  outbox: Pick<Outbox, 'append'>
  settings: Pick<Settings, 'value' | 'retention' | 'monitoring'>
  agents: {
    directory: Directory
    reach: Reach
    health: Health
    git: AgentGit
    hooks: Pick<RegistryHooks, 'onDeleting'>
  }
  records: {
    breakers: Breakers
    link: AgentLink
    view: Pick<AgentView, 'contextOf'>
    isPlatformEnabled(): boolean
  }
  operatorQueue: OperatorQueue
}

export type Supervision = { routes: Route[]; loops: Loop[] }

export function createSupervision(deps: SupervisionDeps): Supervision {
  const { agents, records, operatorQueue, settings } = deps
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
    dailyLimit: () => settings.value('ops_cost_limit_daily_usd'),
  })
  agents.hooks.onDeleting((tx, { agent }) => monitoring.agentDeleted(tx, agent.id))
  return {
    routes: [...monitoringRoutes(monitoring, agents.directory), ...alertRoutes(operatorQueue, deps.clock)],
    loops: [...monitoring.loops, checkRetention({ ...deps, raiseAlert: operatorQueue.raiseAlert })],
  }
}
