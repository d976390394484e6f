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

/** What is wrong with an agent itself, whatever its runs do; the gravest first. */
export function warningsOf(agent: AgentDetails): Warning[] {
  const found: (Warning | false)[] = [
    agent.status === 'exited' && {
      id: 'exited',
      title: 'Its container ended by itself',
      hint: 'Nobody stopped it. Its log tells why; start it to let it work again.',
      tone: 'danger',
      place: 'start',
    },
    agent.circuit_breaker.open && {
      id: 'breaker',
      title: 'Its breaker is open',
      hint: 'After repeated failures new runs are refused for a while. Check its credentials, then reset it.',
      tone: 'danger',
      place: 'settings',
    },
    agent.status === 'running' &&
      agent.heartbeat_state === 'stale' && {
        id: 'heartbeat',
        title: 'It gives no sign of life',
        hint: heartbeatHint(agent.last_heartbeat_age_seconds),
        tone: 'warning',
        place: null,
      },
    agent.needs_recreate && {
      id: 'recreate',
      title: 'Changes wait for a restart',
      hint: 'Stop and start it to bring its new settings into force.',
      tone: 'warning',
      place: null,
    },
    agent.status === 'stopped' && {
      id: 'stopped',
      title: 'It is stopped',
      hint: 'Nothing runs, and schedules do not fire, until it is started.',
      tone: 'warning',
      place: 'start',
    },
  ]
  return found.filter((warning) => warning !== false)
}

function heartbeatHint(ageSeconds: number | null): string {
  if (ageSeconds === null) return 'Its program has not reported since it was started.'
  return `The last one came ${formatDuration(ageSeconds * 1000)} ago. It may be overloaded or cut off.`
}
