import { ApiError } from '@roost/contracts/client'
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { anyExecutionQuery } from '../features/executions/queries.ts'
import { RunBody } from '../features/executions/run-body.tsx'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { buttonClass } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { SkeletonText } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/executions/$id')({ component: DeletedAgentRunPage })

/** A run of a deleted agent, for admins. */
function DeletedAgentRunPage() {
  const { id } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const run = useQuery(anyExecutionQuery(useApi(), id))
  return (
    <Page>
      <Title of={['Run', ...(run.data ? [run.data.agent_name] : [])]} />
      {run.data ? (
        <RunBody
          key={id}
          run={run.data}
          search={search}
          onChange={(change) =>
            void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false })
          }
        />
      ) : (
        <>
          <h1 className="sr-only">Run</h1>
          <Missing error={run.error} onRetry={() => void run.refetch()} />
        </>
      )}
    </Page>
  )
}

function Missing({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  if (!error) return <SkeletonText lines={5} label="Loading run" />
  const isHidden = error instanceof ApiError && [403, 404].includes(error.status)
  if (!isHidden) {
    return <ErrorState title="Could not load the run" error={error} onRetry={onRetry} className="my-auto" />
  }
  return (
    <EmptyState
      icon={<SearchX aria-hidden />}
      isPage
      title="Run not found"
      description="The run may have been deleted by retention. Only admins can open the runs of deleted agents."
      action={
        <Link to="/runs" className={buttonClass()}>
          All runs
        </Link>
      }
    />
  )
}
