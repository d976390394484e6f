import {
  type ExecutionDetails,
  type ExecutionErrorCode,
  type ExecutionStatus,
  type ExecutionSummary,
  executionErrorCodes,
  executionStatuses,
  finalStatuses,
  type RunMetadata,
  type ToolCall,
  type Trigger,
  triggers,
} from '@roost/contracts/runs/executions'
import { isCallOnly, type Relation, type SignedIn } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'
import type { ExecutionsTable } from './tables.ts'

/** Triggers of runs that belong to a conversation of one person; `chatOnly`: as a chat, not as a task. */
export const privateTriggers = {
  always: ['chat', 'session', 'workspace', 'voice'],
  chatOnly: ['mcp'],
} as const satisfies Record<string, readonly Trigger[]>

export function isFinal(status: ExecutionStatus): boolean {
  return (finalStatuses as readonly ExecutionStatus[]).includes(status)
}

export function isPrivate({ kind, triggered_by }: Pick<ExecutionsTable, 'kind' | 'triggered_by'>): boolean {
  const { always, chatOnly } = privateTriggers
  const found: readonly Trigger[] = kind === 'chat' ? [...always, ...chatOnly] : always
  return found.includes(triggered_by)
}

/** User and system keys act for their person; keys of other scopes have fewer rights. */
function actsForPerson(caller: SignedIn): boolean {
  return caller.kind === 'session' || caller.key.scope === 'user' || caller.key.scope === 'system'
}

export function isAdmin(caller: SignedIn): boolean {
  return actsForPerson(caller) && caller.user.role === 'admin'
}

/**
 * Whether a caller with access to the agent may see this run. Connector keys and calling agents see only runs
 * that they started.
 */
export function maySee(
  caller: SignedIn,
  relation: Relation,
  row: Pick<ExecutionsTable, 'source_mcp_key_id'>,
): boolean {
  return (
    !seesOwnRunsOnly(caller, relation) || (caller.kind === 'key' && row.source_mcp_key_id === caller.key.id)
  )
}

export function seesOwnRunsOnly(caller: SignedIn, relation: Relation): boolean {
  return isCallOnly(relation) || (caller.kind === 'key' && caller.key.scope === 'connector')
}

/** The private conversations that a caller may read; message searches use it too. */
export type MessageReader = { readsAll: boolean; userId: string | null; keyId: string | null }

/** Admins read everything; others read their own conversations and those of their key. */
export function messageReader(caller: SignedIn): MessageReader {
  return {
    readsAll: isAdmin(caller),
    userId: actsForPerson(caller) ? caller.user.id : null,
    keyId: caller.kind === 'key' ? caller.key.id : null,
  }
}

/**
 * Whether message, response and log are shown. Those of a private conversation are shown only to its person,
 * to the key that started it, and to admins.
 */
export function mayRead(
  caller: SignedIn,
  row: Pick<ExecutionsTable, 'kind' | 'triggered_by' | 'source_user_id' | 'source_mcp_key_id'>,
): boolean {
  if (!isPrivate(row)) return true
  const { readsAll, userId, keyId } = messageReader(caller)
  if (readsAll || (keyId !== null && keyId === row.source_mcp_key_id)) return true
  return userId !== null && userId === row.source_user_id
}

/**
 * Whether an agent sees which conversation its run belongs to, although the text is withheld: its tasks for itself name
 * it. A run that works for somebody other than the owner sees only the conversations of its principal.
 */
function isOfOwnAgent(caller: SignedIn, row: Pick<ExecutionsTable, 'agent_id' | 'principal'>): boolean {
  if (caller.kind !== 'key' || caller.key.scope !== 'agent') return false
  const { agent_id, principal } = caller.key
  if (agent_id !== row.agent_id) return false
  const reachesAll = caller.run === undefined || caller.run.reach === 'owner'
  return reachesAll || (principal !== undefined && principal === row.principal)
}

/** Undefined stays undefined. Throws `unknown_filter` with the valid values. */
export function statusFilter(text: string | undefined): ExecutionStatus | undefined {
  return offered('status', text, executionStatuses)
}
export function triggerFilter(text: string | undefined): Trigger | undefined {
  return offered('triggered_by', text, triggers)
}

/** An empty text stays: it means runs without an error code. */
export function errorFilter(text: string | undefined): ExecutionErrorCode | '' | undefined {
  return text === '' ? '' : offered('error', text, executionErrorCodes)
}

export function offered<T extends string>(
  filter: string,
  text: string | undefined,
  values: readonly T[],
): T | undefined {
  if (text === undefined) return undefined
  const value = values.find((each) => each === text)
  if (value !== undefined) return value
  throw unknownFilter(filter, text, values)
}

export function unknownFilter(filter: string, text: string, values: readonly string[]): Fault {
  const detail = `"${text}" is not a value of ${filter}; offered are ${values.join(', ')}.`
  return new Fault('unknown_filter', detail, { filter, offered: values })
}

/** Converts micro-dollars to US dollars. */
export function dollars(micros: number | null): number | null {
  return micros === null ? null : micros / 1_000_000
}

const previewLength = 120
export function messagePreview(message: string): string {
  return message.length > previewLength ? message.slice(0, previewLength).toWellFormed() : message
}

/** The row in a list, as this caller may see it. */
export function summaryOf(row: ExecutionsTable, caller: SignedIn): ExecutionSummary {
  const isShown = mayRead(caller, row)
  return {
    id: row.id,
    agent_name: row.agent_name,
    status: row.status,
    message: isShown ? row.message : null,
    triggered_by: row.triggered_by,
    schedule_id: row.schedule_id,
    created_at: row.created_at,
    queued_at: row.queued_at,
    started_at: row.started_at,
    completed_at: row.completed_at,
    duration_ms: row.duration_ms,
    cost: dollars(row.cost_micros),
    cost_estimated: row.cost_estimated === 1,
    model_used: row.model_used,
    context_used: row.context_used,
    context_max: row.context_max,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    attempt_number: row.attempt_number,
    retry_of_execution_id: row.retry_of_execution_id,
    retry_scheduled_at: row.retry_scheduled_at,
    business_status: row.business_status,
    fan_out_id: row.fan_out_id,
    fan_out_task_id: row.fan_out_task_id,
    loop_id: row.loop_id,
    reminder_id: row.reminder_id,
    session_id: isShown || isOfOwnAgent(caller, row) ? row.session_id : null,
    parent_execution_id: row.parent_execution_id,
    chain_depth: row.chain_depth,
    source_user_id: row.source_user_id,
    source_user_email: row.source_user_email,
    source_agent_name: row.source_agent_name,
    source_mcp_key_id: row.source_mcp_key_id,
    source_mcp_key_name: row.source_mcp_key_name,
    source_mcp_scope: row.source_mcp_scope,
    error_summary: row.error === null || !isShown ? null : row.error.slice(0, 200).toWellFormed(),
    error_code: row.error_code,
    ...(row.agent_deleted === 1 && isAdmin(caller) ? { agent_deleted: true } : {}),
    ...(isShown ? {} : { redacted: true }),
  }
}

/** The row with its large fields, as this caller may see them. */
export function detailsOf(
  row: ExecutionsTable,
  { tools, principal, caller }: { tools: ToolCall[]; principal: string | null; caller: SignedIn },
): ExecutionDetails {
  const isShown = mayRead(caller, row)
  const request = parseJson<StoredRequest>(row.request)
  return {
    ...summaryOf(row, caller),
    principal,
    response: isShown ? row.response : null,
    error: isShown ? row.error : null,
    terminal_reason: row.terminal_reason,
    skip_reason: row.skip_reason,
    parked: isParked(row),
    tool_calls: isShown ? tools : [],
    compact_events: parseJson(row.compact_events) ?? [],
    timeout_seconds: row.timeout_seconds,
    allowed_tools: parseJson(row.allowed_tools),
    model: row.model,
    system_prompt: isShown ? (request?.system_prompt ?? null) : null,
    attachment_count: request?.attachments ?? 0,
    // With this id a task could continue another person's conversation.
    runtime_session_id: isShown ? row.runtime_session_id : null,
    num_turns: row.num_turns,
    tool_count: row.tool_count,
    validated_at: row.validated_at,
    validation_execution_id: row.validation_execution_id,
    validates_execution_id: row.validates_execution_id,
    validation_report: isShown ? parseJson(row.validation_report) : null,
    delivery: parseJson(row.delivery),
    log_removed_at: logRemovedAt(row),
  }
}

/** When retention removed the transcript; null while it is stored and for a run that had none. */
export function logRemovedAt(row: Pick<ExecutionsTable, 'last_line' | 'log_removed_at'>): string | null {
  return row.last_line > 0 ? row.log_removed_at : null
}

/** The part of the request that details show. */
type StoredRequest = { system_prompt?: string | null; attachments?: number }

/** Claimed by the agent, runtime not yet spawned. */
export function isParked(row: Pick<ExecutionsTable, 'status' | 'spawned_at'>): boolean {
  return row.status === 'running' && row.spawned_at === null
}

/** Usage of a run, as responses carry it. */
export function metadataOf(row: ExecutionsTable): RunMetadata {
  return {
    cost_usd: dollars(row.cost_micros),
    cost_estimated: row.cost_estimated === 1,
    duration_ms: row.duration_ms,
    num_turns: row.num_turns,
    tool_count: row.tool_count ?? 0,
    session_id: row.runtime_session_id,
    input_tokens: row.input_tokens ?? 0,
    output_tokens: row.output_tokens ?? 0,
    cache_creation_tokens: row.cache_creation_tokens ?? 0,
    cache_read_tokens: row.cache_read_tokens ?? 0,
    context_window: row.context_max,
    context_tokens: row.context_used,
    model_used: row.model_used,
    compact_events: parseJson(row.compact_events) ?? [],
  }
}

/** The columns hold JSON that this feature wrote. */
function parseJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T)
}
