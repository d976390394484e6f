import type { AgentDetails } from '@roost/contracts/agents/agent'
import { formatDuration } from '../../lib/format.ts'

/** Where a person can do something about it. */
export type WarningPlace = 'settings' | 'start' | null
export type Warning = {
  id: string
  title: string
  hint: string
  tone: 'warning' | 'danger'
  place: WarningPlace
}

/** Problems of the agent itself, independent of its runs, most severe first. */
export function warningsOf(agent: AgentDetails): Warning[] {
  const found: (Warning | false)[] = [
    agent.status === 'exited' && {
      id: 'exited',
      title: 'The container has exited',
      hint: 'The container exited without a stop request. Check the log for the reason, then start the agent.',
      tone: 'danger',
      place: 'start',
    },
    agent.circuit_breaker.open && {
      id: 'breaker',
      title: 'The circuit breaker is open',
      hint: 'New runs are refused for a while after repeated failures. Check the credentials, then reset the circuit breaker.',
      tone: 'danger',
      place: 'settings',
    },
    agent.status === 'running' &&
      agent.heartbeat_state === 'stale' && {
        id: 'heartbeat',
        title: 'No heartbeat',
        hint: heartbeatHint(agent.last_heartbeat_age_seconds),
        tone: 'warning',
        place: null,
      },
    agent.needs_recreate && {
      id: 'recreate',
      title: 'Restart required',
      hint: 'Stop and start the agent to apply its new settings.',
      tone: 'warning',
      place: null,
    },
    agent.status === 'stopped' && {
      id: 'stopped',
      title: 'The agent is stopped',
      hint: 'No runs start and no schedules fire until the agent is started.',
      tone: 'warning',
      place: 'start',
    },
  ]
  return found.filter((warning) => warning !== false)
}

function heartbeatHint(ageSeconds: number | null): string {
  if (ageSeconds === null) return 'The agent has not sent a heartbeat since its start.'
  return `The last heartbeat was ${formatDuration(ageSeconds * 1000)} ago. The agent may be overloaded or disconnected.`
}
