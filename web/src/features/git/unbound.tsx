import type { AgentDetails } from '@roost/contracts/agents/agent'
import { GitBranch } from 'lucide-react'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Section } from '../../ui/section.tsx'
import { AgentStopped } from '../agents/agent-stopped.tsx'
import { InitializeForm } from './initialize-form.tsx'
import { TokenSection } from './token-section.tsx'

/** Shown for an agent without a repository. */
export function Unbound({ agent, isOwner }: { agent: AgentDetails; isOwner: boolean }) {
  const title = `${agent.label ?? agent.name} has no repository`
  if (!isOwner) {
    return (
      <EmptyState
        icon={<GitBranch aria-hidden />}
        title={title}
        description="The owner of the agent can bind a repository."
        className="max-w-none rounded-lg border border-line bg-surface"
      />
    )
  }
  return (
    <div className="min-w-0 max-w-4xl">
      <Section
        title={title}
        description="A repository stores the workspace as commits and brings in commits of others. If it is empty, it is filled from the workspace. Otherwise the agent works on its own branch."
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
