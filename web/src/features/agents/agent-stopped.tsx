import type { AgentRow } from '@roost/contracts/agents/agent'
import { Play, PowerOff } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { useAgentPower } from './actions.ts'

export type AgentStoppedProps = {
  agent: Pick<AgentRow, 'name' | 'label' | 'status'>
  /** Completes “Start the agent to …”, e.g. `view and change its files`. */
  purpose: string
}

/** Shown in place of content that needs a running agent. */
export function AgentStopped({ agent, purpose }: AgentStoppedProps) {
  const { start, pending } = useAgentPower(agent.name)
  const name = agent.label ?? agent.name
  return (
    <div className="grid flex-1 place-items-center">
      <EmptyState
        icon={<PowerOff aria-hidden />}
        title={agent.status === 'exited' ? `${name} has exited` : `${name} is stopped`}
        description={`Start the agent to ${purpose}.`}
        action={
          <Button variant="primary" icon={<Play aria-hidden />} pending={pending === 'start'} onClick={start}>
            Start
          </Button>
        }
      />
    </div>
  )
}
