import type { AgentDetails } from '@roost/contracts/agents/agent'
import { SquareTerminal } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Switch } from '../../ui/switch.tsx'
import { Terminal } from '../../ui/terminal.tsx'
import { useStoredState } from '../../ui/use-stored-state.ts'
import { endingOf } from './endings.ts'
import { openShell } from './open-shell.ts'

type State = 'opening' | 'open' | { code: number; reason: string } | { error: unknown }

/** A shell in the agent's container, which ends with the tab. */
export function TerminalTab({ agent }: { agent: AgentDetails }) {
  const api = useApi()
  const [number, setNumber] = useState(1)
  const [state, setState] = useState<State>('opening')
  const [isReadAloud, setReadAloud] = useStoredState<'on' | 'off'>('terminal-read-aloud', 'off')
  const isOver = typeof state === 'object'
  const again = () => {
    setState('opening')
    setNumber(number + 1)
  }
  if (agent.status !== 'running' && !isOver) {
    return (
      <EmptyState
        icon={<SquareTerminal />}
        title="The agent is stopped"
        description="Start the agent to open a terminal in its container."
      />
    )
  }
  const action = (
    <Button size="sm" onClick={again} disabled={agent.status !== 'running'}>
      Open another terminal
    </Button>
  )
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 p-4 md:px-6">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-xs text-muted">
        <p className="flex-1" role="status">
          {state === 'opening'
            ? 'Opening …'
            : state === 'open'
              ? 'User developer in /home/developer. Programs end when you leave this tab.'
              : 'Closed'}
        </p>
        <span className="hidden sm:inline">Press Escape, then Tab to leave the terminal</span>
        <span className="flex items-center gap-2">
          <span aria-hidden="true">Screen reader mode</span>
          <Switch
            label="Screen reader mode"
            checked={isReadAloud === 'on'}
            onCheckedChange={(on) => setReadAloud(on ? 'on' : 'off')}
          />
        </span>
      </div>
      {isOver &&
        ('error' in state ? (
          <ErrorState title="Could not open the terminal" error={state.error} onRetry={again} />
        ) : (
          <Ended {...state} action={action} />
        ))}
      <Terminal
        key={number}
        label={`Terminal of ${agent.name}`}
        isReadAloud={isReadAloud === 'on'}
        connect={(screen) =>
          openShell(api, agent.name, {
            output: screen.write,
            open: () => setState('open'),
            ended: setState,
          })
        }
        className="flex-1"
      />
    </div>
  )
}

function Ended({ code, reason, action }: { code: number; reason: string; action: ReactNode }) {
  const { tone, title, next } = endingOf(code, reason)
  return (
    <Banner tone={tone} title={title} action={action}>
      {next}
    </Banner>
  )
}
