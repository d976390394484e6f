import { parseModelOverride } from '@roost/contracts/kit/model'
import type { Trigger } from '@roost/contracts/runs/executions'
import { accountPrincipal, agentPrincipal, principalOf, type SignedIn } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'

/** A run as features request it: chats, tasks, schedules, loops and all others use this one form. */
export type RunRequest = {
  /** The id of its record, when the caller has chosen it. */
  executionId?: string | undefined
  agentId: string
  kind: 'chat' | 'task'
  triggeredBy: Trigger
  message: string
  source: Source
  /** Chat: text for the agent before the message, not shown in the conversation. */
  note?: string | null
  /** Checked by the model-override rule; null means the agent's default. */
  model?: string | null
  /** Values above the agent's cap are reduced to it; null means the cap. */
  timeoutSeconds?: number | null
  /** Chat: the conversation. Turns of one conversation are serial. */
  sessionId?: string | null
  /** The task's own part of the system prompt. */
  systemPrompt?: string | null
  allowedTools?: string[] | null
  maxTurns?: number | null
  /** Task: the runtime's session to continue. */
  resumeSessionId?: string | null
  attachments?: Attachment[]
  attempt?: { number: number; firstExecutionId: string | null }
  links?: Links
  /** Depth in calls from a person, for a run that nobody calls now; left out, it follows from the source. */
  chainDepth?: number
  /** For the run's part of the system prompt. */
  schedule?: { name: string; nextRunAt: string | null } | null
  /** Data from the caller of a webhook; stored with the record. */
  metadata?: Record<string, unknown> | null
}

/** The cause of a run. */
export type Source = {
  /** On whose behalf the run works, see `identity/access/principal.ts`. */
  principal: string
  userId: string | null
  userEmail: string | null
  /** The calling agent, with its current name. */
  agent: { id: string; name: string } | null
  key: { id: string; name: string; scope: string } | null
  /** The run that the caller's key belongs to. */
  executionId?: string
  /** Depth of the calling run, in a source stored for a run of its own; the calling run may be removed by then. */
  depth?: number
}

export type Links = {
  scheduleId?: string | null
  loopId?: string | null
  fanOutId?: string | null
  fanOutTaskId?: string | null
  reminderId?: string | null
  parentExecutionId?: string | null
  validatesExecutionId?: string | null
}

/** A checked file: decoded size, type and name are valid. */
export type Attachment = { name: string; mimetype: string; size: number; data_base64: string }

/** Parts of the request without a column of their own, stored as JSON with the execution. */
export type RequestSnapshot = {
  system_prompt: string | null
  max_turns: number | null
  resume_session_id: string | null
  schedule: { name: string; nextRunAt: string | null } | null
  /** Omitted when empty. */
  note?: string
  metadata?: Record<string, unknown>
  /** Number of attached files. */
  attachments: number
}

/** The model of a run; null means the agent's default. Throws `invalid_model` with the value. */
export function modelOf(value: string | null | undefined): string | null {
  const model = parseModelOverride(value)
  if (model !== undefined) return model
  throw new Fault('invalid_model', `"${value}" is not a model id.`, { value })
}

/**
 * The trigger of a run that this caller starts over HTTP. `way` is the trigger for a person. Through MCP
 * (`X-Via-MCP`), which uses the caller's own key, it is `mcp`.
 */
export function triggerOf(
  caller: SignedIn,
  agentId: string,
  { way, viaMcp }: { way: 'chat' | 'session' | 'manual'; viaMcp: boolean },
): Trigger {
  if (caller.kind !== 'key') return way
  if (caller.key.scope === 'agent') return caller.key.agent_id === agentId ? 'self_task' : 'agent'
  const isOfPerson = caller.key.scope === 'user' || caller.key.scope === 'system'
  return viaMcp && isOfPerson ? 'mcp' : way
}

/**
 * The MCP server sets this header on requests it forwards. The key is the caller's own, so a forged header
 * gains nothing.
 */
export function isViaMcp(request: { header(name: string): string | undefined }): boolean {
  return request.header('x-via-mcp') === '1'
}

/**
 * The identity that owns idempotency keys and conversations. A person's sessions and user keys are one
 * holder. Agents and connectors are separate, so that their messages stay out of their owner's conversations.
 * An agent is one holder for each principal of its runs: one visitor's calls never continue those of another.
 */
export function holderOf(caller: SignedIn): string {
  const isAgent = caller.kind === 'key' && caller.key.scope === 'agent'
  if (isAgent || (caller.kind === 'key' && caller.key.scope === 'connector')) return principalOf(caller)
  return `user:${caller.user.id}`
}

/** The source of a run started over HTTP; `agentName` is the name of an agent key's agent. */
export function sourceOf(caller: SignedIn, agentName: string | null): Source {
  const key = caller.kind === 'key' ? caller.key : null
  const agentId = key?.scope === 'agent' ? key.agent_id : null
  return {
    principal: principalOf(caller),
    userId: caller.user.id,
    userEmail: caller.user.email,
    agent: agentId === null ? null : { id: agentId, name: agentName ?? agentId },
    key: key && { id: key.id, name: key.name, scope: key.scope },
    ...(caller.kind === 'key' && caller.run ? { executionId: caller.run.execution_id } : {}),
  }
}

/** A `Source` that a feature stored as JSON; those of releases without principals get theirs here. */
export function readSource(json: string): Source {
  const source = JSON.parse(json) as Omit<Source, 'principal'> & { principal?: string }
  return { ...source, principal: source.principal ?? derivedPrincipal(source) }
}

function derivedPrincipal({ userId, agent, key }: Omit<Source, 'principal'>): string {
  if (agent) return agentPrincipal(agent.id, null)
  if (key?.scope === 'connector') return `key:${key.id}`
  if (userId === null) throw new Error('A stored source names neither an agent nor a person.')
  return accountPrincipal(userId)
}
