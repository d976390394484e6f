import { ApiError } from '@roost/contracts/client'
import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { executionQuery } from '../features/executions/queries.ts'
import { RunBody } from '../features/executions/run-body.tsx'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { buttonClass } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/agents/$name/executions/$id')({ component: ExecutionPage })

/** One run: its transcript, outcome and cost. */
function ExecutionPage() {
  const { name, id } = route.useParams()
  const run = useQuery(executionQuery(useApi(), name, id))
  if (run.data) return <Loaded key={id} run={run.data} />
  if (!run.error) return <Loading />
  if (run.error instanceof ApiError && run.error.status === 404) return <RunNotFound name={name} />
  return (
    <Page>
      <Title of={['Run', name]} />
      <h1 className="sr-only">Run of {name}</h1>
      <ErrorState
        title="Could not load the run"
        error={run.error}
        onRetry={() => void run.refetch()}
        className="my-auto"
      />
    </Page>
  )
}

function Loaded({ run }: { run: ExecutionDetails }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page>
      <Title of={['Run', run.agent_name]} />
      <RunBody
        run={run}
        search={search}
        onChange={(change) =>
          void navigate({ search: (now) => ({ ...now, ...change }), replace: true, resetScroll: false })
        }
      />
    </Page>
  )
}

/** The API answers 404 for a hidden run as well, so the text covers both cases. */
function RunNotFound({ name }: { name: string }) {
  return (
    <div className="grid flex-1 place-items-center">
      <EmptyState
        icon={<SearchX aria-hidden />}
        isPage
        title="Run not found"
        description="The run may have been deleted by retention, or its agent is not shared with you."
        action={
          <>
            <Link to="/agents/$name" params={{ name }} className={buttonClass()}>
              To {name}
            </Link>
            <Link to="/runs" className={buttonClass({ variant: 'ghost' })}>
              All runs
            </Link>
          </>
        }
      />
    </div>
  )
}

function Loading() {
  return (
    <Page>
      <div role="status" aria-label="Loading run" className="flex flex-col gap-4">
        <h1 className="sr-only">Loading run</h1>
        <Skeleton className="h-4 w-56" />
        <Skeleton className="h-7 w-2/3" />
        <Skeleton className="h-16 rounded-lg" />
        <Skeleton className="h-72 rounded-lg" />
      </div>
    </Page>
  )
}
