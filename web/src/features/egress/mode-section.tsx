import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { AgentEgress, EgressMode } from '@roost/contracts/agents/egress'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { RadioCards } from '../../ui/radio-cards.tsx'
import { Section } from '../../ui/section.tsx'
import { useAgentPower } from '../agents/actions.ts'
import { useMode } from './actions.ts'
import { modeChoices } from './words.ts'

type ModeSectionProps = { agent: AgentDetails; egress: AgentEgress }

/** The outbound network mode of the agent. */
export function ModeSection({ agent, egress }: ModeSectionProps) {
  const [isAsking, setAsking] = useState(false)
  const { mutate, isPending } = useMode(agent.name)
  const { allowed, credentials, network, mode } = egress
  const isEmpty = allowed.length === 0 && credentials.length === 0
  const choose = (next: EgressMode) => (next === 'enforce' && isEmpty ? setAsking(true) : mutate(next))
  return (
    <Section title="Outbound network" description={<Now egress={egress} />}>
      <RadioCards label="Mode" options={modeChoices} value={mode} onValueChange={choose} />
      {egress.restart_needed && <RestartNeeded agent={agent} />}
      {mode === 'enforce' && !network.can_close && (
        <Banner tone="warning" title="Enforce mode is not available">
          This container engine cannot block direct connections. The agent does not start in enforce mode.
        </Banner>
      )}
      {network.notes.length > 0 && (
        <ul className="list-disc pl-4 text-muted text-xs marker:text-faint">
          {network.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Enforce an empty allow list?"
        description="The agent could then reach only its model and the platform. Use learn mode first to record the destinations it needs."
        action="Enforce"
        pending={isPending}
        onConfirm={() => mutate('enforce', { onSettled: () => setAsking(false) })}
      />
    </Section>
  )
}

function Now({ egress: { network, denied_last_day } }: { egress: AgentEgress }) {
  return (
    <span className="flex flex-col gap-1.5">
      {network.is_closed !== null && (
        <StatusDot
          tone={network.is_closed ? 'success' : 'neutral'}
          label={network.is_closed ? 'Direct connections blocked' : 'Direct connections open'}
        />
      )}
      <span>
        {denied_last_day === 0
          ? 'No requests refused in the last 24 hours.'
          : `${plural(denied_last_day, 'request')} refused in the last 24 hours.`}
      </span>
    </span>
  )
}

function RestartNeeded({ agent }: { agent: AgentDetails }) {
  const { stop, start, pending } = useAgentPower(agent.name)
  const isRunning = agent.status === 'running'
  return (
    <Banner
      tone="warning"
      title="Restart the agent to apply the new mode completely"
      action={
        <Button size="sm" pending={pending !== null} onClick={isRunning ? stop : start}>
          {isRunning ? 'Stop agent' : 'Start agent'}
        </Button>
      }
    >
      Connections through the platform already follow the new mode.
    </Banner>
  )
}
