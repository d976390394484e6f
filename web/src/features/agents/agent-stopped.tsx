import type { AgentRow } from '@roost/contracts/agents/agent'
import { Play, PowerOff } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { useAgentPower } from './actions.ts'

export type AgentStoppedProps = {
  agent: Pick<AgentRow, 'name' | 'label' | 'status'>
  /** What it has to run for, e.g. `see and change its files`. */
  purpose: string
}

/** In the place of what only a running agent has. */
export function AgentStopped({ agent, purpose }: AgentStoppedProps) {
  const { start, pending } = useAgentPower(agent.name)
  const name = agent.label ?? agent.name
  return (
    <div className="grid flex-1 place-items-center">
      <EmptyState
        icon={<PowerOff aria-hidden />}
        title={agent.status === 'exited' ? `${name} has ended by itself` : `${name} is stopped`}
        description={`Start it to ${purpose}.`}
        action={
          <Button variant="primary" icon={<Play aria-hidden />} pending={pending === 'start'} onClick={start}>
            Start
          </Button>
        }
      />
    </div>
  )
}
