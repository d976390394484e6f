/** The one table of all endpoints: routes, documentation, clients and the table of access read it. */
import { z } from 'zod'
import * as agent from './agents/agent.ts'
import * as agentAvatar from './agents/avatar.ts'
import * as agentConnector from './agents/connector.ts'
import * as agentCredentials from './agents/credentials.ts'
import * as agentDisk from './agents/disk.ts'
import * as agentEgress from './agents/egress.ts'
import * as agentFolders from './agents/folders.ts'
import * as agentForks from './agents/forks.ts'
import * as agentFormerWorkspaces from './agents/former-workspaces.ts'
import * as agentGit from './agents/git.ts'
import * as agentGitRepository from './agents/git-repository.ts'
import * as agentHealth from './agents/health.ts'
import * as agentInnerNetworks from './agents/inner-networks.ts'
import * as agentIsolation from './agents/isolation.ts'
import * as agentLifecycle from './agents/lifecycle.ts'
import * as agentKey from './agents/mcp-key.ts'
import * as agentPermissions from './agents/permissions.ts'
import * as agentRegistry from './agents/registry.ts'
import * as agentSettings from './agents/settings.ts'
import * as agentSharing from './agents/sharing.ts'
import * as agentTags from './agents/tags.ts'
import * as agentTemplates from './agents/templates.ts'
import * as agentWorkspace from './agents/workspace.ts'
import * as agentHistory from './agents/workspace-history.ts'
import * as agentRestores from './agents/workspace-restore.ts'
import * as calls from './conversations/calls.ts'
import * as canvas from './conversations/canvas.ts'
import * as canvasBlocks from './conversations/canvas-blocks.ts'
import * as canvasShares from './conversations/canvas-shares.ts'
import * as chat from './conversations/chat.ts'
import * as chatShares from './conversations/chat-shares.ts'
import * as paid from './conversations/paid.ts'
import * as publicChat from './conversations/public-chat.ts'
import * as publicLinks from './conversations/public-links.ts'
import * as slack from './conversations/slack.ts'
import * as voice from './conversations/voice.ts'
import * as workspace from './conversations/workspace.ts'
import * as workspaceConversations from './conversations/workspace-conversations.ts'
import * as workspaceDocuments from './conversations/workspace-documents.ts'
import * as workspaceTurns from './conversations/workspace-turns.ts'
import * as audit from './foundation/audit.ts'
import * as platformSettings from './foundation/platform-settings.ts'
import * as settings from './foundation/settings.ts'
import * as allowList from './identity/allow-list.ts'
import * as emailLogin from './identity/email-login.ts'
import * as gitToken from './identity/git-token.ts'
import * as keys from './identity/keys.ts'
import * as mcpSessions from './identity/mcp-sessions.ts'
import * as people from './identity/people.ts'
import * as preferences from './identity/preferences.ts'
import * as secondFactor from './identity/second-factor.ts'
import * as sessions from './identity/sessions.ts'
import * as setup from './identity/setup.ts'
import * as users from './identity/users.ts'
import type { Endpoint } from './kit/endpoint.ts'
import * as json from './kit/json.ts'
import * as agentMetrics from './operations/agent-metrics.ts'
import * as agentTransfer from './operations/agent-transfer.ts'
import * as alerts from './operations/alerts.ts'
import * as demo from './operations/demo.ts'
import * as evaluations from './operations/evaluations.ts'
import * as operationsFleet from './operations/fleet.ts'
import * as fleetActs from './operations/fleet-acts.ts'
import * as health from './operations/health.ts'
import * as invariants from './operations/invariants.ts'
import * as metrics from './operations/metrics.ts'
import * as monitoring from './operations/monitoring.ts'
import * as monitoringConfig from './operations/monitoring-config.ts'
import * as notifications from './operations/notifications.ts'
import * as operatorQueue from './operations/operator-queue.ts'
import * as push from './operations/push.ts'
import * as operatorQueueBulk from './operations/queue-bulk.ts'
import * as replicas from './operations/replicas.ts'
import * as reports from './operations/reports.ts'
import * as scheduledBackups from './operations/scheduled-backups.ts'
import * as sockets from './operations/sockets.ts'
import * as support from './operations/support.ts'
import * as systemAgent from './operations/system-agent.ts'
import * as telemetry from './operations/telemetry.ts'
import * as usageSharing from './operations/usage-sharing.ts'
import * as analytics from './runs/analytics.ts'
import * as attachments from './runs/attachments.ts'
import * as attempts from './runs/attempts.ts'
import * as breaker from './runs/breaker.ts'
import * as costs from './runs/costs.ts'
import * as executions from './runs/executions.ts'
import * as fanOut from './runs/fan-out.ts'
import * as fleet from './runs/fleet-executions.ts'
import * as loops from './runs/loops.ts'
import * as modelPrices from './runs/model-prices.ts'
import * as playbooks from './runs/playbooks.ts'
import * as providerSubscriptions from './runs/provider-subscriptions.ts'
import * as queue from './runs/queue.ts'
import * as request from './runs/request.ts'
import * as runViews from './runs/run-views.ts'
import * as spendCaps from './runs/spend-caps.ts'
import * as tasks from './runs/tasks.ts'
import * as skillAssignments from './skills/assignments.ts'
import * as skillLibrary from './skills/library.ts'
import * as skillSources from './skills/sources.ts'
import * as events from './triggers/events.ts'
import * as firing from './triggers/firing.ts'
import * as reminders from './triggers/reminders.ts'
import * as scheduleAdmin from './triggers/schedule-admin.ts'
import * as scheduleAnalytics from './triggers/schedule-analytics.ts'
import * as schedules from './triggers/schedules.ts'
import * as webhooks from './triggers/webhooks.ts'

const modules: Record<string, unknown>[] = [
  setup,
  sessions,
  emailLogin,
  secondFactor,
  users,
  preferences,
  gitToken,
  mcpSessions,
  people,
  allowList,
  keys,
  settings,
  platformSettings,
  scheduledBackups,
  agentRegistry,
  agentTransfer,
  agentIsolation,
  agentLifecycle,
  agentKey,
  agentConnector,
  agentAvatar,
  agentSettings,
  agentWorkspace,
  agentHistory,
  agentForks,
  agentRestores,
  agentFormerWorkspaces,
  agentCredentials,
  agentDisk,
  agentEgress,
  agentInnerNetworks,
  agentGit,
  agentGitRepository,
  agentHealth,
  agentTags,
  agentSharing,
  agentPermissions,
  agentFolders,
  agentTemplates,
  skillLibrary,
  skillSources,
  skillAssignments,
  spendCaps,
  providerSubscriptions,
  breaker,
  tasks,
  modelPrices,
  playbooks,
  queue,
  attempts,
  fanOut,
  loops,
  executions,
  fleet,
  runViews,
  costs,
  analytics,
  schedules,
  firing,
  events,
  reminders,
  scheduleAnalytics,
  scheduleAdmin,
  webhooks,
  chat,
  chatShares,
  workspace,
  workspaceConversations,
  workspaceTurns,
  workspaceDocuments,
  slack,
  voice,
  calls,
  canvas,
  canvasShares,
  publicLinks,
  publicChat,
  paid,
  operatorQueue,
  operatorQueueBulk,
  notifications,
  push,
  reports,
  evaluations,
  agentMetrics,
  sockets,
  audit,
  operationsFleet,
  fleetActs,
  alerts,
  monitoring,
  support,
  systemAgent,
  demo,
  invariants,
  replicas,
  metrics,
  telemetry,
  usageSharing,
  health,
]

/** Modules of shapes without endpoints. */
const shapes: Record<string, unknown>[] = [agent, canvasBlocks, json, monitoringConfig, attachments, request]

/**
 * Schemas by name, for the documentation: the `id` in their metadata, else the name under which they are exported.
 * Throws when two have the same name, because clients are generated from these.
 */
export const schemas: ReadonlyMap<string, z.ZodType> = namedSchemas([...modules, ...shapes])

function namedSchemas(all: readonly Record<string, unknown>[]): Map<string, z.ZodType> {
  const found = new Map<string, z.ZodType>()
  for (const [exported, value] of all.flatMap(Object.entries<unknown>)) {
    if (!(value instanceof z.ZodType)) continue
    const name = value.meta()?.id ?? exported
    if ((found.get(name) ?? value) !== value) throw new Error(`Two schemas of the API are named ${name}.`)
    found.set(name, value)
  }
  return found
}

/** In the order of the documentation. */
export const endpoints: readonly Endpoint[] = modules.flatMap((module) =>
  Object.values(module).filter(isEndpoint),
)

function isEndpoint(value: unknown): value is Endpoint {
  return (
    typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'access' in value
  )
}
