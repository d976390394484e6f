import type { LiveEvent } from './socket.ts'

export type QueryKey = readonly unknown[]

/**
 * Maps an event to the query key prefixes it makes stale. Keys begin with their subject: `['agents']` for the
 * fleet, `['agent', name, …]` for one agent, `['executions', …]` for all runs.
 */
export function staleBy(event: LiveEvent): QueryKey[] {
  const name = agentOf(event)
  const agent = (...rest: unknown[]): QueryKey[] => (name === null ? [] : [['agent', name, ...rest]])
  const { type } = event
  if (type === 'agent_activity') {
    // Each step changes the cost and duration of the run.
    const run: QueryKey[] =
      typeof event.execution_id === 'string' ? [['execution', event.execution_id, 'details']] : []
    return [...agent('activity'), ...run]
  }
  if (type === 'agent_event') return agent('events')
  if (type === 'agent_notification' || type === 'notifications_cleared') return [['notifications']]
  if (type === 'agent_report') return [['reports']]
  if (type.startsWith('canvas_')) {
    const shown: QueryKey[] = name === null ? [] : [['workspace', 'agent', name, 'canvas']]
    return [...agent('canvas'), ...shown]
  }
  if (type === 'agent_health_changed') return [['monitoring']]
  if (type === 'agent_renamed') return [['agents'], ['folders'], ['agent', event.old_name], ...agent()]
  // One key covers libraries, assignments and deliveries.
  if (type === 'skills_changed' || type === 'skills_library_synced')
    return [['skills'], ...agent('playbooks')]
  if (type === 'git_sync_changed') return agent('git')
  if (type === 'agent_settings_changed') {
    const parts = ['details', 'settings', 'egress'].flatMap((part) => agent(part))
    return [['agents', 'list'], ['folders'], ['provider-subscriptions'], ...parts]
  }
  if (type.startsWith('agent_')) {
    const inside = lifecycle.includes(type) ? insideOf.flatMap((part) => agent(part)) : []
    const shown: QueryKey[] = [['agents'], ['folders'], ['workspace', 'roster']]
    return [...shown, ...agent('details'), ...agent('settings'), ...inside]
  }
  if (type.startsWith('execution_') || type === 'fan_out_completed') {
    const run: QueryKey[] = typeof event.execution_id === 'string' ? [['execution', event.execution_id]] : []
    const talk = conversational.includes(String(event.triggered_by)) ? agent('sessions') : []
    // Only the end of a run reports its changes to the workspace.
    const left = type === 'execution_finished' ? leftBehind.flatMap((part) => agent(part)) : []
    const loop = event.triggered_by === 'loop' ? agent('loops') : []
    const visit = event.triggered_by === 'public' ? agent('public-links') : []
    const payment = event.triggered_by === 'paid' ? agent('payments') : []
    const turn: QueryKey[] =
      name !== null && event.triggered_by === 'workspace' ? [['workspace', 'agent', name]] : []
    const lists: QueryKey[] = [['executions'], ['agents', 'figures'], ...agent('executions')]
    return [...lists, ...run, ...talk, ...left, ...loop, ...turn, ...visit, ...payment]
  }
  if (type.startsWith('operator_queue_')) {
    return [['operator-queue'], ['workspace', 'asks'], ['monitoring', 'alerts']]
  }
  if (type.startsWith('schedule_')) return [['schedules'], ...agent('schedules')]
  if (type.startsWith('loop_')) return agent('loops')
  if (type.startsWith('reminder_')) return agent('reminders')
  if (type.startsWith('public_link_')) return agent('public-links')
  if (type === 'chat_response_ready') return [...agent('sessions'), ['workspace']]
  return []
}

/** Queries that need a running agent. */
const insideOf = ['files', 'logs', 'info', 'credentials', 'git', 'egress', 'playbooks']
/** Queries whose data a run may change in the workspace. */
const leftBehind = ['files', 'info', 'credentials', 'git', 'egress', 'playbooks']

/** The container was replaced or removed. */
const lifecycle = ['agent_started', 'agent_stopped', 'agent_exited']

/** Triggers of runs that are chat turns. No other event reports their start. */
const conversational = ['chat', 'session', 'mcp', 'self_task']

function agentOf(event: LiveEvent): string | null {
  if (typeof event.agent_name === 'string') return event.agent_name
  const { data } = event
  if (typeof data === 'object' && data !== null && 'name' in data && typeof data.name === 'string') {
    return data.name
  }
  return null
}
