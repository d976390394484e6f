import type { AgentsArea } from '../agents/area.ts'
import type { Loop } from '../background/loops.ts'
import type { WorkspaceChat } from '../conversations/workspace-chat/index.ts'
import type { Alerts } from '../foundation/alerts/index.ts'
import type { Leases } from '../foundation/leases/index.ts'
import type { Outbox } from '../foundation/outbox/index.ts'
import type { RateLimits } from '../foundation/rate-limits/index.ts'
import type { Replicas } from '../foundation/replicas/index.ts'
import type { Settings } from '../foundation/settings/index.ts'
import type { Vault } from '../foundation/vault/index.ts'
import type { Route } from '../http/route.ts'
import type { SocketRoute } from '../http/sockets.ts'
import type { SignedIn } from '../identity/access/index.ts'
import type { IdentityArea } from '../identity/area.ts'
import type { Clock } from '../kit/clock.ts'
import type { Meters } from '../kit/platform-meters.ts'
import type { BackupProgram } from '../ports/backup-program/port.ts'
import type { Db } from '../ports/database/port.ts'
import type { Ephemeral } from '../ports/ephemeral/port.ts'
import type { Host } from '../ports/host/port.ts'
import type { Log } from '../ports/log.ts'
import type { RunRecords, RunsArea } from '../runs/area.ts'
import type { SkillsArea } from '../skills/area.ts'
import type { Schedules } from '../triggers/schedules/index.ts'
import type { Subscriptions } from '../triggers/subscriptions/index.ts'
import { agentTransferRoutes, createAgentTransfer } from './agent-transfer/index.ts'
import { bulkActionRoutes, createBulkActions } from './bulk-actions/index.ts'
import { createDemo, type DemoDeps, demoRoutes } from './demo/index.ts'
import { createEvaluations, evaluationRoutes } from './evaluations/index.ts'
import {
  createInvariants,
  type InvariantsDeps,
  internalInvariantRoutes,
  invariantRoutes,
} from './invariants/index.ts'
import {
  agentMetricsRoutes,
  createAgentMetrics,
  createMetrics,
  createTelemetry,
  createUsageSharing,
  type Metrics,
  metricsRoutes,
  telemetryRoutes,
  usageSharingRoutes,
} from './metrics/index.ts'
import { createMonitoring, monitoringRoutes } from './monitoring/index.ts'
import { createNotifications, notificationRoutes } from './notifications/index.ts'
import {
  alertRoutes,
  createOperatorQueue,
  type OperatorQueue,
  operatorQueueRoutes,
} from './operator-queue/index.ts'
import { createPush, type PushDeps, pushRoutes } from './push/index.ts'
import { createReports, type Reports, reportRoutes, rosterReportRoutes } from './reports/index.ts'
import { createScheduledBackups, scheduledBackupRoutes } from './scheduled-backups/index.ts'
import {
  createCallerOf,
  createSockets,
  createTickets,
  liveSocketRoutes,
  type Sockets,
  socketTicketRoutes,
} from './sockets/index.ts'
import { createSupport, supportRoutes } from './support/index.ts'
import { createSystemAgent, systemAgentRoutes } from './system-agent/index.ts'
import { type BuildInfo, versionRoutes } from './version/index.ts'

export type OperationsAreaDeps = Pick<InvariantsDeps, 'schedulesCount' | 'isLinked'> & {
  db: Db
  clock: Clock
  log: Log
  ephemeral: Ephemeral
  vault: Vault
  backupProgram: BackupProgram
  pushService: PushDeps['pushService']
  replicas: Pick<Replicas, 'live' | 'hasSeveralMachines'>
  host: Host
  meters: Meters
  dataDir: string
  /** Kind of the container engine. */
  containers: string
  limits: RateLimits
  settings: Pick<Settings, 'value' | 'retention' | 'monitoring' | 'usageSharing' | 'featureFlags'>
  outbox: Outbox
  identity: IdentityArea
  agents: AgentsArea
  records: Pick<
    RunRecords,
    'breakers' | 'link' | 'hooks' | 'view' | 'isPlatformEnabled' | 'providerSubscriptions' | 'prices'
  >
  runs: Pick<RunsArea, 'dispatch' | 'halt' | 'removeRuns'>
  canvases: DemoDeps['canvases']
  /** Answers are scripted, and demo agents are created once. */
  isDemo: boolean
  skills: Pick<SkillsArea, 'assignments' | 'delivery'>
  schedules: Pick<Schedules, 'admin' | 'list' | 'checkRestored' | 'restore'>
  subscriptions: Pick<Subscriptions, 'list' | 'restore'>
  leases: Leases
  alerts: Alerts
  build: BuildInfo
  /** Version of the agents' images. */
  agentImageVersion: string
}

export type OperationsArea = {
  operatorQueue: OperatorQueue
  /** For the Workspace: ratings of reports. */
  rateReport: Reports['rateForRoster']
  /** Routes of the Workspace for reports. */
  workspaceRoutes(workspace: Pick<WorkspaceChat, 'principals' | 'roster'>): Route[]
  sockets: Pick<Sockets, 'open' | 'close'>
  /** Returns the ticket's caller once; null for an invalid, used or expired one, or an ended credential. */
  redeemTicket(ticket: string): Promise<SignedIn | null>
  routes: Route[]
  internalRoutes: Route[]
  socketRoutes: SocketRoute[]
  observed: Metrics['observe']
  loops: Loop[]
  /** Resolves when the work started by answers is done; call before the database closes. */
  close(): Promise<void>
}

/** Wires the features about the platform as a whole. */
export function createOperationsArea(deps: OperationsAreaDeps): OperationsArea {
  const { identity, agents, records, runs } = deps
  const { agentRecords, agentAccess, health } = agents
  const tickets = createTickets(deps)
  const callerOf = createCallerOf(identity)
  const sockets = createSockets({ ...deps, agentRecords, agentAccess, callerOf, changes: identity.changes })
  const invariants = createInvariants({
    ...deps,
    limitOf: agents.settings.effectiveParallel,
    unreachable: records.breakers.unreachable,
  })
  const operatorQueue = createOperatorQueue({
    ...deps,
    ...records,
    events: deps.outbox,
    agentAccess,
    agentRecords,
    dispatch: runs.dispatch,
    itemAdded: (tx, itemId) => push.itemAdded(tx, itemId),
  })
  const push = createPush({
    ...deps,
    events: deps.outbox,
    users: identity.users,
    sessions: identity.sessions,
    items: operatorQueue.view,
  })
  identity.onSessionsEnded(push.sessionsEnded)
  agents.hooks.onDeleting((tx, { agent }) => operatorQueue.agentDeleted(tx, agent.id))
  const notifications = createNotifications({ ...deps, events: deps.outbox, agentAccess })
  const reports = createReports({ ...deps, events: deps.outbox, agentAccess })
  const metrics = createMetrics({
    ...deps,
    agentRecords,
    hooks: records.hooks,
    disk: agents.disk,
    version: deps.build.version,
    effectiveParallel: agents.settings.effectiveParallel,
    socketClients: sockets.clients,
  })
  const support = createSupport({
    ...deps,
    agentRecords,
    effectiveParallel: agents.settings.effectiveParallel,
    version: deps.build.version,
  })
  const dailyLimit = () => deps.settings.value('ops_cost_limit_daily_usd')
  const monitoring = createMonitoring({
    ...deps,
    ...records,
    agentRecords,
    agentAccess,
    health,
    git: agents.git,
    events: deps.outbox,
    alertList: operatorQueue.alerts,
    contextOf: records.view.contextOf,
    monotonic: () => performance.now(),
    dailyLimit,
    longRunSeconds: () => deps.settings.value('ops_max_execution_minutes') * 60,
  })
  agents.hooks.onDeleting((tx, { agent }) => monitoring.agentDeleted(tx, agent.id))
  const bulkActions = createBulkActions({
    ...deps,
    agentRecords,
    lifecycle: agents.lifecycle,
    events: deps.outbox,
    monitoring,
    dailyLimit,
    haltRuns: runs.halt,
    schedules: deps.schedules.admin,
    subscriptions: records.providerSubscriptions,
  })
  const scheduledBackups = createScheduledBackups({
    ...{ ...deps, program: deps.backupProgram },
    hasSeveralMachines: deps.replicas.hasSeveralMachines,
  })
  const demo = createDemo({
    ...deps,
    ...runs,
    events: deps.outbox,
    users: identity.users,
    agentRecords,
    agentManagement: agents.agentManagement,
    prices: records.prices,
  })
  const telemetry = createTelemetry({ ...deps, agentAccess, health })
  return {
    operatorQueue,
    rateReport: reports.rateForRoster,
    workspaceRoutes: (workspace) => rosterReportRoutes(reports, workspace),
    sockets,
    async redeemTicket(ticket) {
      const credential = await tickets.redeem(ticket)
      return credential && callerOf(credential)
    },
    routes: [
      ...socketTicketRoutes(tickets),
      ...operatorQueueRoutes(operatorQueue, agentAccess),
      ...notificationRoutes(notifications, agentAccess),
      ...pushRoutes(push),
      ...reportRoutes(reports),
      ...evaluationRoutes(createEvaluations(deps)),
      ...agentMetricsRoutes(
        createAgentMetrics({ ...deps, describe: agents.agentManagement.describe }),
        agentRecords,
      ),
      ...agentTransferRoutes(
        createAgentTransfer({
          ...deps,
          ...deps.skills,
          ...agents,
          egress: agents.egressPolicy,
          version: deps.build.version,
        }),
        agentRecords,
      ),
      ...bulkActionRoutes(bulkActions),
      ...monitoringRoutes(monitoring, agentRecords),
      ...alertRoutes(operatorQueue, deps.clock),
      ...systemAgentRoutes(
        createSystemAgent({ ...deps, agentRecords, lifecycle: agents.lifecycle, keys: identity.keys }),
      ),
      ...demoRoutes(demo),
      ...invariantRoutes(invariants),
      ...scheduledBackupRoutes(scheduledBackups),
      ...telemetryRoutes(telemetry),
      ...usageSharingRoutes(createUsageSharing({ ...deps, agentRecords })),
      ...versionRoutes({ ...deps, isVoiceOn: () => deps.settings.featureFlags().voice }),
    ],
    internalRoutes: [
      ...internalInvariantRoutes(invariants),
      ...metricsRoutes(metrics),
      ...supportRoutes(support),
    ],
    observed: metrics.observe,
    socketRoutes: liveSocketRoutes({
      sockets,
      tickets,
      callerOf,
      verifyKey: identity.keys.verifyKey,
      agentRecords,
    }),
    loops: [
      ...operatorQueue.loops,
      ...demo.loops,
      ...monitoring.loops,
      ...notifications.loops,
      ...push.loops,
      ...reports.loops,
      ...telemetry.loops,
      ...scheduledBackups.loops,
    ],
    async close() {
      await push.close()
      await scheduledBackups.close()
      bulkActions.acts.close()
      await operatorQueue.settled()
    },
  }
}
