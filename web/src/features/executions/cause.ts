import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { triggerWords } from './words.ts'

/** The link target of a cause. */
export type CauseTarget =
  | { to: 'execution'; id: string; agent: string }
  /** By run ID only, when the agent's page no longer exists. */
  | { to: 'any_execution'; id: string }
  | { to: 'agent'; name: string }
  | { to: 'session'; id: string }
  | { to: 'fan_out'; id: string }
  | { to: 'tab'; tab: 'schedules' | 'loops' }

export type CausePart = { label: string; text: string; target: CauseTarget | null }

/** Who or what caused a run and what it belongs to, most direct first. `myId`: the current user. */
export function causesOf(run: ExecutionSummary, myId: string): CausePart[] {
  const parts: (CausePart | null)[] = [
    { label: 'Trigger', text: triggerWords[run.triggered_by], target: null },
    whoOf(run, myId),
    keyOf(run),
    linked('Schedule', run.schedule_id, { to: 'tab', tab: 'schedules' }),
    linked('Loop', run.loop_id, { to: 'tab', tab: 'loops' }),
    linked('Reminder', run.reminder_id, null),
    run.fan_out_id === null
      ? null
      : {
          label: 'Fan-out',
          text: run.fan_out_task_id ? `Task ${run.fan_out_task_id}` : run.fan_out_id,
          target: { to: 'fan_out', id: run.fan_out_id },
        },
    run.session_id === null
      ? null
      : { label: 'Conversation', text: 'Open conversation', target: { to: 'session', id: run.session_id } },
    run.parent_execution_id === null
      ? null
      : {
          label: 'Parent run',
          text: 'View parent run',
          // An agent's call has the calling run as its parent.
          target: {
            to: 'execution',
            id: run.parent_execution_id,
            agent: run.source_agent_name ?? run.agent_name,
          },
        },
  ]
  const present = parts.filter((part) => part !== null)
  return run.agent_deleted ? present.map(withoutAgent) : present
}

/** A deleted agent has no page, and another agent may have its name. */
function withoutAgent({ target, ...part }: CausePart): CausePart {
  if (target?.to === 'execution') return { ...part, target: { to: 'any_execution', id: target.id } }
  return { ...part, target: target?.to === 'agent' ? target : null }
}

function whoOf(run: ExecutionSummary, myId: string): CausePart | null {
  const { source_agent_name: agent, source_user_email: email, source_user_id: id } = run
  if (agent !== null) return { label: 'Requested by', text: agent, target: { to: 'agent', name: agent } }
  if (id === null && email === null) return null
  return {
    label: 'Requested by',
    text: id === myId ? 'You' : (email ?? 'User without an e-mail address'),
    target: null,
  }
}

function keyOf(run: ExecutionSummary): CausePart | null {
  const name = run.source_mcp_key_name ?? run.source_mcp_key_id
  if (name === null) return null
  return {
    label: 'MCP key',
    text: run.source_mcp_scope ? `${name} (${run.source_mcp_scope})` : name,
    target: null,
  }
}

function linked(label: string, id: string | null, target: CauseTarget | null): CausePart | null {
  return id === null ? null : { label, text: id, target }
}

/** One short line for lists: `Schedule`, `Agent · scout`, `MCP · laptop`. */
export function causeLine(run: ExecutionSummary): string {
  const word = triggerWords[run.triggered_by]
  const by = run.source_agent_name ?? run.source_mcp_key_name
  return by === null ? word : `${word} · ${by}`
}
