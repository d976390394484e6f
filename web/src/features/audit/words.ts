import {
  type AuditActorType,
  type AuditLogEntry,
  type AuditOutcome,
  auditActorTypes,
  auditOutcomes,
  auditSources,
} from '@roost/contracts/foundation/audit'
import { keyScopes } from '@roost/contracts/kit/access'
import { type AuditType, auditTypes } from '@roost/contracts/kit/endpoint'

export const typeLabels: Record<AuditType, string> = {
  agent_lifecycle: 'Agents',
  execution: 'Runs',
  authentication: 'Sign-in',
  authorization: 'Permissions',
  configuration: 'Settings',
  credentials: 'Keys and credentials',
  sharing: 'Sharing',
  mcp_operation: 'MCP',
  git_operation: 'Git',
  operator_queue: 'Operator queue',
  webhook: 'Webhooks',
  system: 'System',
}

export const actorLabels: Record<AuditActorType, string> = {
  user: 'User',
  agent: 'Agent',
  mcp_client: 'MCP key',
  system: 'Platform',
  anonymous: 'Anonymous',
}

export const outcomeLabels: Record<AuditOutcome, string> = {
  ok: 'Succeeded',
  refused: 'Refused',
  failed: 'Failed',
}

export const typeChoices = auditTypes.map((value) => ({ value, label: typeLabels[value] }))
export const actorChoices = auditActorTypes.map((value) => ({ value, label: actorLabels[value] }))
export const outcomeChoices = auditOutcomes.map((value) => ({ value, label: outcomeLabels[value] }))
export const sourceChoices = auditSources.map((value) => ({ value, label: sourceLabels(value) }))
export const scopeChoices = keyScopes.map((value) => ({ value, label: value.replaceAll('_', ' ') }))

/** Uses the same rule as the platform's outcome filter. */
export function outcomeOf({ status }: Pick<AuditLogEntry, 'status'>): AuditOutcome {
  if (status === 401 || status === 403) return 'refused'
  return status !== null && status >= 400 ? 'failed' : 'ok'
}

/** `set_role` → “Set role”. */
export function actionLabel(action: string): string {
  const words = action
    .replaceAll('_', ' ')
    .replace(/([a-z])([A-Z])/g, (_, end, start) => `${end} ${start.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The most specific name of the actor. */
export function actorOf(entry: AuditLogEntry, nameOf: (id: string) => string | undefined): string {
  const person = (entry.actor_id && nameOf(entry.actor_id)) || entry.actor_email || entry.actor_id
  return person ?? actorLabels[entry.actor_type]
}

function sourceLabels(source: (typeof auditSources)[number]): string {
  return { api: 'API', mcp: 'MCP', scheduler: 'Scheduler', system: 'Platform' }[source]
}
