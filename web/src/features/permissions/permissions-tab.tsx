import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Grid3x3 } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { buttonClass } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { CallableList } from './callable-list.tsx'
import { callersOf } from './edges.ts'
import { edgesQuery, permissionsQuery } from './queries.ts'

/** The agents that this agent may call, and its callers. */
export function PermissionsTab({ agent }: { agent: AgentDetails }) {
  const api = useApi()
  const permissions = useQuery(permissionsQuery(api, agent.name))
  const mayEdit = agent.can_delete || agent.is_owner
  return (
    <div className="max-w-4xl">
      <Section
        title="May call"
        description="This agent may chat with permitted agents, send them tasks and read their data. It may always call itself."
        actions={
          <Link to="/agents" search={{ tab: 'permissions' }} className={buttonClass({ size: 'sm' })}>
            <Grid3x3 aria-hidden />
            All permissions
          </Link>
        }
      >
        {!mayEdit && (
          <Banner tone="neutral">Only the owner can change which agents this agent may call.</Banner>
        )}
        {permissions.isError && !permissions.data ? (
          <ErrorState
            title="Could not load the permissions"
            error={permissions.error}
            onRetry={() => void permissions.refetch()}
            className="rounded-lg border border-line bg-surface"
          />
        ) : permissions.data ? (
          <CallableList permissions={permissions.data} mayEdit={mayEdit} />
        ) : (
          <Skeleton className="h-48" />
        )}
      </Section>
      <Section title="May be called by" description="The owner of the calling agent grants this permission.">
        <Callers name={agent.name} />
      </Section>
    </div>
  )
}

function Callers({ name }: { name: string }) {
  const edges = useQuery(edgesQuery(useApi()))
  if (edges.isError && !edges.data)
    return <ErrorState error={edges.error} onRetry={() => void edges.refetch()} className="py-4" />
  if (!edges.data) return <Skeleton className="h-10" />
  const callers = callersOf(edges.data.edges, name)
  if (callers.length === 0)
    return <p className="text-muted text-sm">No agent that you have access to may call this agent.</p>
  return (
    <ul className="flex flex-wrap gap-1.5">
      {callers.map((caller) => (
        <li key={caller} className="min-w-0 max-w-full">
          <Link
            to="/agents/$name"
            params={{ name: caller }}
            search={{ tab: 'permissions' }}
            className="block truncate rounded-sm bg-hover px-1.5 py-0.5 text-sm hover:text-accent"
          >
            {caller}
          </Link>
        </li>
      ))}
    </ul>
  )
}
