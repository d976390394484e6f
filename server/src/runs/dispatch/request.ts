import type { Trigger } from '@roost/contracts/runs/executions'
import type { SignedIn } from '../../identity/access/caller.ts'

/** A run as a feature asks for it. Chats, tasks, schedules, loops and the rest all come in by this one door. */
export type RunRequest = {
  agentId: string
  kind: 'chat' | 'task'
  triggeredBy: Trigger
  message: string
  source: Source
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
  /** For the run's block of the system prompt. */
  schedule?: { name: string; nextRunAt: string | null } | null
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
