import { parseModelOverride } from '@roost/contracts/kit/model'
import type { Trigger } from '@roost/contracts/runs/executions'
import type { SignedIn } from '../../identity/access/caller.ts'
import { Fault } from '../../kit/fault.ts'

/** A run as a feature asks for it. Chats, tasks, schedules, loops and the rest all come in by this one door. */
export type RunRequest = {
  /** The id that its record gets, where somebody knows it already. */
  executionId?: string | undefined
  agentId: string
  kind: 'chat' | 'task'
  triggeredBy: Trigger
  message: string
  source: Source
  /** Chat: what the agent is told before the message, and nobody reads in the conversation. */
  note?: string | null
  /** Checked by the model-override rule; null takes the agent's default. */
  model?: string | null
  /** Above the agent's cap it is the cap; null takes the cap. */
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
  /**
   * Hops from a person, at least: of a run that follows from another one which may have ended by now. What
   * the calling agent works on may make it deeper.
   */
  chainDepth?: number
  /** For the run's block of the system prompt. */
  schedule?: { name: string; nextRunAt: string | null } | null
  /** What the caller of a webhook said of it; kept with the record. */
  metadata?: Record<string, unknown> | null
}

/** Who caused a run. */
export type Source = {
  userId: string | null
  userEmail: string | null
  /** The agent that called, and its name now. */
  agent: { id: string; name: string } | null
  key: { id: string; name: string; scope: string } | null
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

/** Checked: decoded size, type and name hold. */
export type Attachment = { name: string; mimetype: string; size: number; data_base64: string }

/** Kept with the execution as JSON: what of the request has no column of its own. */
export type RequestSnapshot = {
  system_prompt: string | null
  max_turns: number | null
  resume_session_id: string | null
  schedule: { name: string; nextRunAt: string | null } | null
  /** Left out where there is none. */
  note?: string
  metadata?: Record<string, unknown>
  /** How many files came with it. */
  attachments: number
}

/** The model of a run; null is the agent's default. Throws `invalid_model`, which names the value. */
export function modelOf(value: string | null | undefined): string | null {
  const model = parseModelOverride(value)
  if (model !== undefined) return model
  throw new Fault('invalid_model', `"${value}" is not a model id.`, { value })
}

/**
 * What causes a run that this caller asks for over HTTP. `way` is how a person asks; through MCP
 * (`X-Via-MCP`), which acts with the caller's own key, it is `mcp`.
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

/** The MCP server says so of what it passes on; the key is the caller's own, so nothing is gained by it. */
export function isViaMcp(request: { header(name: string): string | undefined }): boolean {
  return request.header('x-via-mcp') === '1'
}

/**
 * On whose behalf a caller asks. A person's sessions and user keys are one holder; an agent and a connector
 * ask for themselves, so that what they say does not land in their owner's conversations.
 */
export function holderOf(caller: SignedIn): string {
  if (caller.kind === 'key' && caller.key.scope === 'agent')
    return `agent:${caller.key.agent_id ?? caller.key.id}`
  if (caller.kind === 'key' && caller.key.scope === 'connector') return `key:${caller.key.id}`
  return `user:${caller.user.id}`
}

/** The source of what a caller asks over HTTP; `agentName` names the agent of an agent key. */
export function sourceOf(caller: SignedIn, agentName: string | null): Source {
  const key = caller.kind === 'key' ? caller.key : null
  const agentId = key?.scope === 'agent' ? key.agent_id : null
  return {
    userId: caller.user.id,
    userEmail: caller.user.email,
    agent: agentId === null ? null : { id: agentId, name: agentName ?? agentId },
    key: key && { id: key.id, name: key.name, scope: key.scope },
  }
}
