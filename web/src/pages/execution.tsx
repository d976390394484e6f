import { ApiError } from '@roost/contracts/client'
import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { SearchX } from 'lucide-react'
import { executionQuery } from '../features/executions/queries.ts'
import { RunAnswer } from '../features/executions/run-answer.tsx'
import { RunFacts } from '../features/executions/run-facts.tsx'
import { RunFigures } from '../features/executions/run-figures.tsx'
import { RunHeader } from '../features/executions/run-header.tsx'
import { RunProblem } from '../features/executions/run-problem.tsx'
import { RunTranscript } from '../features/executions/run-transcript.tsx'
import { RunWaiting } from '../features/executions/run-waiting.tsx'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { buttonClass } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/agents/$name/executions/$id')({ component: ExecutionPage })

/** One run: what it did, why it ended so, what it cost. */
function ExecutionPage() {
  const { name, id } = route.useParams()
  const run = useQuery(executionQuery(useApi(), name, id))
  if (run.data) return <Loaded key={id} run={run.data} />
  if (!run.error) return <Loading />
  if (run.error instanceof ApiError && run.error.status === 404) return <Gone name={name} />
  return (
    <Page>
      <Title of={['Run', name]} />
      <h1 className="sr-only">A run of {name}</h1>
      <ErrorState
        title="The run could not be loaded"
        error={run.error}
        onRetry={() => void run.refetch()}
        className="my-auto"
      />
    </Page>
  )
}

function Loaded({ run }: { run: ExecutionDetails }) {
  const { view, q, line } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page>
      <Title of={['Run', run.agent_name]} />
      <RunHeader run={run} />
      <div className="flex flex-col gap-4">
        {(run.status === 'queued' || run.status === 'pending_retry') && <RunWaiting run={run} />}
        <RunProblem run={run} />
        <RunFigures run={run} />
        <div className="grid min-w-0 gap-x-10 gap-y-8 pt-2 lg:grid-cols-[minmax(0,1fr)_18rem]">
          <div className="flex min-w-0 flex-col gap-6">
            <RunAnswer run={run} />
            <RunTranscript
              run={run}
              view={view ?? 'transcript'}
              search={q ?? ''}
              line={line}
              onViewChange={(next) =>
                void navigate({
                  search: (now) => ({ ...now, view: next === 'transcript' ? undefined : next }),
                  replace: true,
                  resetScroll: false,
                })
              }
              onSearchChange={(next) =>
                void navigate({
                  search: (now) => ({ ...now, q: next || undefined }),
                  replace: true,
                  resetScroll: false,
                })
              }
              onLine={(next) => void navigate({ search: { line: next }, resetScroll: false })}
            />
          </div>
          <RunFacts run={run} />
        </div>
      </div>
    </Page>
  )
}

/** Hidden and missing are the same to who asks. */
function Gone({ name }: { name: string }) {
  return (
    <div className="grid flex-1 place-items-center">
      <EmptyState
        icon={<SearchX aria-hidden />}
        isPage
        title="There is no such run"
        description="It may have been cleaned up with old runs, or its agent is not shared with you."
        action={
          <>
            <Link to="/agents/$name" params={{ name }} className={buttonClass()}>
              To {name}
            </Link>
            <Link
              to="/operations"
              search={{ tab: 'executions' }}
              className={buttonClass({ variant: 'ghost' })}
            >
              All executions
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
      <div role="status" aria-label="Loading the run" className="flex flex-col gap-4">
        <h1 className="sr-only">Loading a run</h1>
        <Skeleton className="h-4 w-56" />
        <Skeleton className="h-7 w-2/3" />
        <Skeleton className="h-16 rounded-lg" />
        <Skeleton className="h-72 rounded-lg" />
      </div>
    </Page>
  )
}
