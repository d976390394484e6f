import type { AgentDetails } from '@roost/contracts/agents/agent'
import { formatDuration } from '../../lib/format.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'

const states = {
  alive: { tone: 'success', label: 'Alive', meaning: 'The agent says every 5 seconds that it works.' },
  stale: {
    tone: 'warning',
    label: 'Silent',
    meaning: 'It has not been heard of for a while: it is busy, cut off, or stopped.',
  },
  unsupported: {
    tone: 'neutral',
    label: 'Not told',
    meaning: 'It gives no signs of life: it has not started yet, or runs an older image.',
  },
} as const

export function HeartbeatSection({ agent }: { agent: AgentDetails }) {
  const { tone, label, meaning } = states[agent.heartbeat_state]
  const age = agent.last_heartbeat_age_seconds
  return (
    <Section title="Heartbeat" description="Signs of life that the agent's program gives by itself.">
      <KeyValues
        items={[
          { label: 'State', value: <StatusDot tone={tone} label={label} /> },
          {
            label: 'Last sign',
            value: age === null ? null : `${formatDuration(age * 1000)} before this page asked`,
          },
        ]}
      />
      <p className="text-sm text-muted">{meaning}</p>
    </Section>
  )
}
