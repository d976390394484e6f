import type { AgentRow } from '@roost/contracts/agents/agent'
import { StatusDot } from '../../ui/badge.tsx'

const tones = { running: 'success', stopped: 'neutral', exited: 'danger' } as const

/** The state of an agent's container as a mark and a word; animated during a run. */
export function AgentStatus({ status, busy = false }: { status: AgentRow['status']; busy?: boolean }) {
  return <StatusDot tone={tones[status]} label={busy ? 'working' : status} pulse={busy} />
}
