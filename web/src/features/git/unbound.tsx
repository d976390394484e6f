import type { AgentDetails } from '@roost/contracts/agents/agent'
import { GitBranch } from 'lucide-react'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Section } from '../../ui/section.tsx'
import { AgentStopped } from '../agents/agent-stopped.tsx'
import { InitializeForm } from './initialize-form.tsx'
import { TokenSection } from './token-section.tsx'

/** In the place of a repository that is not there. */
export function Unbound({ agent, isOwner }: { agent: AgentDetails; isOwner: boolean }) {
  const title = `${agent.label ?? agent.name} is bound to no repository`
  if (!isOwner) {
    return (
      <EmptyState
        icon={<GitBranch aria-hidden />}
        title={title}
        description="Its owner can bind it to one."
        className="max-w-none rounded-lg border border-line bg-surface"
      />
    )
  }
  return (
    <div className="min-w-0 max-w-4xl">
      <Section
        title={title}
        description="With one, its workspace is kept: each state of it is a commit, and what others push comes in. An empty repository begins with the workspace; one that has commits is joined on a branch of the agent’s own."
      >
        {agent.status === 'running' ? (
          <InitializeForm name={agent.name} />
        ) : (
          <AgentStopped agent={agent} purpose="push its workspace to a repository" />
        )}
      </Section>
      <TokenSection name={agent.name} />
    </div>
  )
}
