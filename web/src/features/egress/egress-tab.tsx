import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { AllowList } from './allow-list.tsx'
import { BoundCredentials } from './bound-credentials.tsx'
import { EgressLog } from './egress-log.tsx'
import { ModeSection } from './mode-section.tsx'
import { egressQuery } from './queries.ts'

/** Mode, allow list, bound credentials and log of the outbound network. */
export function EgressTab({ agent }: { agent: AgentDetails }) {
  const egress = useQuery(egressQuery(useApi(), agent.name))
  if (!egress.data) {
    if (!egress.error) return <SkeletonList rows={6} label="Loading outbound network settings" />
    return (
      <ErrorState
        title="Could not load the outbound network settings"
        error={egress.error}
        onRetry={() => void egress.refetch()}
      />
    )
  }
  return (
    <div className="flex min-w-0 flex-col">
      <div className="max-w-4xl">
        <ModeSection agent={agent} egress={egress.data} />
        <AllowList name={agent.name} egress={egress.data} />
        <BoundCredentials name={agent.name} egress={egress.data} />
      </div>
      <EgressLog name={agent.name} />
    </div>
  )
}
