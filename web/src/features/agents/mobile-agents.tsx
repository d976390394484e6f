import type { AgentRow } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { LongList } from '../../ui/long-list.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import { useAgentPower } from './actions.ts'
import { AgentStatus } from './agent-status.tsx'
import { agentsQuery } from './queries.ts'

/** The number of agents from which the list is searchable. */
const searchableFrom = 8

/** The agents with one action each, to start or stop it. */
export function MobileAgents() {
  const agents = useQuery(agentsQuery(useApi()))
  const [text, setText] = useState('')
  const all = agents.data ?? []
  const searchText = text.trim().toLowerCase()
  const shown = all.filter(({ name, label }) => `${name} ${label ?? ''}`.toLowerCase().includes(searchText))
  return (
    <section aria-labelledby="agents" className="flex min-w-0 flex-col gap-2">
      <h2 id="agents" className="font-semibold text-base">
        Agents
      </h2>
      {all.length >= searchableFrom && (
        <SearchInput label="Filter agents" value={text} onValueChange={setText} className="w-full" />
      )}
      {agents.isError && !agents.data ? (
        <ErrorState
          title="Could not load the agents"
          error={agents.error}
          onRetry={() => void agents.refetch()}
        />
      ) : agents.isPending ? (
        <SkeletonList rows={4} label="Loading agents" />
      ) : shown.length === 0 ? (
        <p className="text-muted text-sm">{searchText === '' ? 'No agents yet.' : 'No matching agents.'}</p>
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
          icon={isUp ? <StopIcon /> : <Play />}
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
