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

/** How the agent's way out is watched. */
export function ModeSection({ agent, egress }: ModeSectionProps) {
  const [isAsking, setAsking] = useState(false)
  const { mutate, isPending } = useMode(agent.name)
  const { allowed, credentials, network, mode } = egress
  const isEmpty = allowed.length === 0 && credentials.length === 0
  const choose = (next: EgressMode) => (next === 'enforce' && isEmpty ? setAsking(true) : mutate(next))
  return (
    <Section title="Way out" description={<Now egress={egress} />}>
      <RadioCards label="Mode" options={modeChoices} value={mode} onValueChange={choose} />
      {egress.restart_needed && <RestartNeeded agent={agent} />}
      {mode === 'enforce' && !network.can_close && (
        <Banner tone="warning" title="Egress cannot be enforced here">
          This container engine cannot take other ways out away, and so the agent does not start in this mode.
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
        title="Enforce an empty list?"
        description="Nothing is allowed yet, so the agent reaches nothing but its model and the platform. Learn first, to see where it goes."
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
          label={network.is_closed ? 'Closed but for the platform' : 'Open'}
        />
      )}
      <span>
        {denied_last_day === 0
          ? 'Nothing was refused in the last 24 hours.'
          : `${plural(denied_last_day, 'attempt')} refused in the last 24 hours.`}
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
      title="It takes effect on the container at the next start"
      action={
        <Button size="sm" pending={pending !== null} onClick={isRunning ? stop : start}>
          {isRunning ? 'Stop it' : 'Start it'}
        </Button>
      }
    >
      What goes over the platform is judged by the new mode already.
    </Banner>
  )
}
