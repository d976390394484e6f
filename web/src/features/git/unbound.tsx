import type { AgentDetails } from '@roost/contracts/agents/agent'
import { GitBranch } from 'lucide-react'
import { EmptyState } from '../../ui/empty-state.tsx'

/** In the place of a repository that is not there. */
export function Unbound({ agent, isOwner }: { agent: AgentDetails; isOwner: boolean }) {
  return (
    <EmptyState
      icon={<GitBranch aria-hidden />}
      title={`${agent.label ?? agent.name} is bound to no repository`}
      description={
        isOwner
          ? 'Agents that are created from a repository are bound to it.'
          : 'Its owner can bind it to one.'
      }
      className="rounded-lg border border-line bg-surface"
    />
  )
}
