import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { agentQuery } from '../features/agents/queries.ts'
import { SetList } from '../features/attempts/set-list.tsx'
import { StartAttempts } from '../features/attempts/start-form.tsx'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SkeletonText } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/agents/$name/attempts')({ component: AttemptsPage })

/** Starts attempts at a task, and lists earlier ones. */
function AttemptsPage() {
  const { name } = route.useParams()
  const { data: agent, error, refetch } = useQuery(agentQuery(useApi(), name))
  return (
    <Page>
      <Title of={['Attempts', name]} />
      <PageHeader
        title="Attempts"
        back={
          <Link to="/agents/$name" params={{ name }} search={{ tab: 'executions' }}>
            {name}
          </Link>
        }
        description="Try one task several times, each on a copy of the agent with the same files. Compare the results and keep one."
      />
      {error && !agent && (
        <ErrorState title="Could not load the agent" error={error} onRetry={() => void refetch()} />
      )}
      {!error && !agent && <SkeletonText lines={6} label="Loading the agent" />}
      {agent && (
        <div className="flex min-w-0 flex-col gap-8">
          <section aria-labelledby="new-attempts" className="flex min-w-0 flex-col gap-3">
            <h2 id="new-attempts" className="font-semibold text-base">
              Start attempts
            </h2>
            <StartAttempts agent={agent} />
          </section>
          <section aria-labelledby="earlier-attempts" className="flex min-w-0 flex-col gap-3">
            <h2 id="earlier-attempts" className="font-semibold text-base">
              Earlier attempts
            </h2>
            <SetList name={name} />
          </section>
        </div>
      )}
    </Page>
  )
}
