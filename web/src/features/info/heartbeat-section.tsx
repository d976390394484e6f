import type { AgentDetails } from '@roost/contracts/agents/agent'
import { formatDuration } from '../../lib/format.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'

const states = {
  alive: { tone: 'success', label: 'Alive', meaning: 'The agent sends a heartbeat every 5 seconds.' },
  stale: {
    tone: 'warning',
    label: 'Stale',
    meaning: 'The agent has not sent a heartbeat for a while. It is busy, disconnected or stopped.',
  },
  unsupported: {
    tone: 'neutral',
    label: 'Unknown',
    meaning: 'The agent sends no heartbeat. It has not started yet, or runs an older image.',
  },
} as const

export function HeartbeatSection({ agent }: { agent: AgentDetails }) {
  const { tone, label, meaning } = states[agent.heartbeat_state]
  const age = agent.last_heartbeat_age_seconds
  return (
    <Section title="Heartbeat" description="Heartbeats of the agent program.">
      <KeyValues
        items={[
          { label: 'Status', value: <StatusDot tone={tone} label={label} /> },
          {
            label: 'Last heartbeat',
            value: age === null ? null : `${formatDuration(age * 1000)} before this page was loaded`,
          },
        ]}
      />
      <p className="text-sm text-muted">{meaning}</p>
    </Section>
  )
}
