import type { AgentDetails } from '@roost/contracts/agents/agent'
import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { Banner } from '../../ui/banner.tsx'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { useAgentPower } from '../agents/actions.ts'
import { FanOutForm } from './fan-out-form.tsx'
import { RetryForm } from './retry-form.tsx'
import { TaskForm } from './task-form.tsx'

export type TaskMode = 'one' | 'several'
export type SendTaskProps = {
  agent: AgentDetails
  mode: TaskMode
  /** The run whose request fills in the form of a single task. */
  from: string | null
  onModeChange: (mode: TaskMode) => void
  onFromClear: () => void
  onFanOut: (id: string) => void
}

const modes = [
  { value: 'one', label: 'Single task' },
  { value: 'several', label: 'Parallel tasks' },
] as const

/** Sends work to an agent: one task, or several in parallel. */
export function SendTask({ agent, mode, from, onModeChange, onFromClear, onFanOut }: SendTaskProps) {
  const isUp = agent.status === 'running'
  return (
    <section aria-labelledby="ask" className="flex min-w-0 max-w-4xl flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="ask" className="font-semibold text-base">
          Send task
        </h2>
        <div className="flex flex-wrap items-center gap-2">
          {(agent.is_owner || agent.can_delete) && !agent.is_system && (
            <Link
              to="/agents/$name/attempts"
              params={{ name: agent.name }}
              className={buttonClass({ size: 'sm' })}
            >
              Try several times…
            </Link>
          )}
          <Segmented
            size="sm"
            label="Number of tasks"
            options={modes}
            value={mode}
            onValueChange={onModeChange}
          />
        </div>
      </div>
      {!isUp && <NotUp agent={agent} />}
      {mode === 'one' && from !== null ? (
        <RetryForm key={from} agent={agent} from={from} isBlocked={!isUp} onClear={onFromClear} />
      ) : mode === 'one' ? (
        <TaskForm agent={agent} isBlocked={!isUp} />
      ) : (
        <FanOutForm agent={agent} isBlocked={!isUp} onStarted={onFanOut} />
      )}
    </section>
  )
}

function NotUp({ agent }: { agent: AgentDetails }) {
  const { start, pending } = useAgentPower(agent.name)
  return (
    <Banner
      tone="warning"
      action={
        <Button size="sm" icon={<Play aria-hidden />} pending={pending === 'start'} onClick={start}>
          Start
        </Button>
      }
    >
      {agent.name} {agent.status === 'exited' ? 'has exited' : 'is stopped'}. Start the agent to send tasks.
    </Banner>
  )
}
