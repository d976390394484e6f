import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { CommitList } from './commit-list.tsx'
import { LastChangeSection } from './last-change-section.tsx'
import { gitConfigQuery } from './queries.ts'
import { RepositorySection } from './repository-section.tsx'
import { SwitchesSection } from './switches-section.tsx'
import { SyncSection } from './sync-section.tsx'
import { TokenSection } from './token-section.tsx'
import { Unbound } from './unbound.tsx'

/** The repository of an agent: sync state, binding and token. */
export function GitTab({ agent }: { agent: AgentDetails }) {
  const config = useQuery(gitConfigQuery(useApi(), agent.name))
  const isOwner = agent.is_owner || agent.can_delete
  if (config.data === undefined) {
    if (!config.error) return <SkeletonList rows={6} label="Loading repository" />
    return (
      <ErrorState
        title="Could not load the repository"
        error={config.error}
        onRetry={() => void config.refetch()}
      />
    )
  }
  if (config.data === null) return <Unbound agent={agent} isOwner={isOwner} />
  return (
    <div className="min-w-0 max-w-4xl">
      <SyncSection agent={agent} isOwner={isOwner} config={config.data} />
      <LastChangeSection agent={agent} />
      <SwitchesSection name={agent.name} config={config.data} isOwner={isOwner} />
      <CommitList agent={agent} />
      <RepositorySection agent={agent} config={config.data} isOwner={isOwner} />
      {isOwner && <TokenSection name={agent.name} />}
    </div>
  )
}
