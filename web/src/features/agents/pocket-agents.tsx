import type { AgentRow } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Play, Square } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { LongList } from '../../ui/long-list.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { useAgentPower } from './actions.ts'
import { AgentStatus } from './agent-status.tsx'
import { agentsQuery } from './queries.ts'

/** From so many agents on a list is searched. */
const searchedFrom = 8

/** Every agent with the one thing to do about it from afar: start it, or stop it. */
export function PocketAgents() {
  const agents = useQuery(agentsQuery(useApi()))
  const [text, setText] = useState('')
  const all = agents.data ?? []
  const wanted = text.trim().toLowerCase()
  const shown = all.filter(({ name, label }) => `${name} ${label ?? ''}`.toLowerCase().includes(wanted))
  return (
    <section aria-labelledby="agents" className="flex min-w-0 flex-col gap-2">
      <h2 id="agents" className="font-semibold text-base">
        Agents
      </h2>
      {all.length >= searchedFrom && (
        <SearchInput label="Filter agents" value={text} onValueChange={setText} className="w-full" />
      )}
      {agents.isError && !agents.data ? (
        <ErrorState
          title="The agents could not be loaded"
          error={agents.error}
          onRetry={() => void agents.refetch()}
        />
      ) : agents.isPending ? (
        <SkeletonList rows={4} label="Loading the agents" />
      ) : shown.length === 0 ? (
        <p className="text-muted text-sm">{wanted === '' ? 'You have no agent yet.' : 'None is named so.'}</p>
      ) : (
        <LongList
          items={shown}
          label="List of agents"
          className="divide-y divide-line rounded-lg border border-line bg-surface"
        >
          {(agent) => <Row key={agent.name} agent={agent} />}
        </LongList>
      )}
    </section>
  )
}

function Row({ agent }: { agent: AgentRow }) {
  const { name, label, status, is_system: isSystem } = agent
  const power = useAgentPower(name)
  const isUp = status === 'running'
  const title = label ?? name
  return (
    <li className="flex min-w-0 items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <Link
          to="/agents/$name"
          params={{ name }}
          search={isUp ? { tab: 'chat' } : {}}
          className="block truncate font-medium text-sm"
        >
          {title}
        </Link>
        <span className="text-xs">
          <AgentStatus status={status} />
        </span>
      </div>
      {!isSystem && (
        <Button
          icon={isUp ? <Square /> : <Play />}
          pending={power.pending !== null}
          onClick={isUp ? power.stop : power.start}
          aria-label={`${isUp ? 'Stop' : 'Start'} ${title}`}
          className="h-10"
        >
          {isUp ? 'Stop' : 'Start'}
        </Button>
      )}
    </li>
  )
}
