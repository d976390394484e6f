import type { ExecutionRow } from '../executions/index.ts'
import type { RequestSnapshot } from './request.ts'

export type PromptParts = {
  row: Pick<
    ExecutionRow,
    | 'id'
    | 'kind'
    | 'session_id'
    | 'triggered_by'
    | 'attempt_number'
    | 'timeout_seconds'
    | 'source_user_email'
    | 'source_agent_name'
  >
  request: RequestSnapshot
  agentName: string
  platformPrompt: string | null
  customInstructions: string | null
  /** The skills' own descriptions. */
  skills: string | null
  /** Names of the agents that this agent may call. */
  callable: readonly string[]
}

/**
 * The system prompt of a run, in fixed order: the platform's instructions, the operator's, the agent's own,
 * the skills, the part about the run, the task's own.
 */
export function systemPrompt(parts: PromptParts): string {
  return [
    platformInstructions(parts.agentName),
    parts.platformPrompt,
    parts.customInstructions,
    parts.skills,
    runBlock(parts),
    parts.request.system_prompt,
  ]
    .map((part) => part?.trim())
    .filter((part) => part)
    .join('\n\n')
}

function platformInstructions(name: string): string {
  return [
    `You are the agent "${name}", hosted by Roost in a container of your own.`,
    'Your workspace is /home/developer; it is kept between runs. Files that people send you are in /home/developer/uploads.',
    'Your last message is the reply that the caller receives.',
  ].join('\n')
}

/**
 * For a chat the text is the same in every turn: the conversation's process was started with it, and a
 * changed system prompt would end the process.
 */
function runBlock({ row, request, callable }: PromptParts): string {
  const lines =
    row.kind === 'chat'
      ? ['## This conversation', `Conversation: ${row.session_id ?? row.id}`]
      : ['## This run', `Execution: ${row.id}`, `Trigger: ${row.triggered_by}`]
  if (row.kind === 'task') {
    if (request.schedule) lines.push(`Schedule: ${request.schedule.name}`)
    if (request.schedule?.nextRunAt) lines.push(`Next run: ${request.schedule.nextRunAt}`)
    if (row.attempt_number > 1) lines.push(`Attempt: ${row.attempt_number}`)
  }
  const caller = row.source_agent_name ? `agent ${row.source_agent_name}` : row.source_user_email
  if (caller) lines.push(`Caller: ${caller}`)
  if (row.kind === 'task') lines.push(`Time limit: ${row.timeout_seconds} seconds`)
  if (callable.length > 0) lines.push(`Agents you may call: ${callable.join(', ')}`)
  return lines.join('\n')
}
