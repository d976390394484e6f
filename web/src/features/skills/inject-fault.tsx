import type { AgentDetails } from '@roost/contracts/agents/agent'
import { describeFault } from '../../lib/fault.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { useAgentPower } from '../agents/actions.ts'

type InjectFaultProps = { agent: AgentDetails; error: unknown; onDismiss: () => void }

/** Why a delivery failed, and what helps. */
export function InjectFault({ agent, error, onDismiss }: InjectFaultProps) {
  const { sentence, code } = describeFault(error)
  const { start, pending } = useAgentPower(agent.name)
  return (
    <Banner
      tone="danger"
      title={sentence}
      className="mb-3"
      onDismiss={onDismiss}
      action={
        code === 'agent_stopped' && (
          <Button size="sm" pending={pending === 'start'} onClick={start}>
            Start agent
          </Button>
        )
      }
    >
      {help[code]} <code className="text-xs">{code}</code>
    </Banner>
  )
}

const help: Readonly<Record<string, string>> = {
  agent_stopped: 'A stopped agent gets its skills when it starts.',
  injection_in_progress:
    'Another delivery is running and includes all assigned skills. Check again in a moment.',
  agent_unresponsive: 'Roost retries automatically when the agent responds.',
}
