import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { executionQuery, traceQuery } from '../features/executions/queries.ts'
import { RunComparison } from '../features/executions/run-comparison.tsx'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { buttonClass } from '../ui/button.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { SkeletonText } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/agents/$name/executions/$id/compare/$other')({
  component: CompareRunsPage,
})

/** Two runs side by side, of one agent or of two. */
function CompareRunsPage() {
  const { name, id, other } = route.useParams()
  const { of = name } = route.useSearch()
  const first = useCompared(name, id)
  const second = useCompared(of, other)
  const error = first.error ?? second.error
  return (
    <Page>
      <Title of={['Compare runs', name]} />
      {first.side && second.side ? (
        <RunComparison key={`${id} ${other}`} first={first.side} second={second.side} />
      ) : (
        <>
          <h1 className="sr-only">Compare runs</h1>
          {error ? (
            <>
              <ErrorState
                title="Could not load the runs"
                error={error}
                onRetry={() => {
                  first.retry()
                  second.retry()
                }}
                className="my-auto"
              />
              <Link to="/runs" className={buttonClass({ className: 'self-center' })}>
                All runs
              </Link>
            </>
          ) : (
            <SkeletonText lines={8} label="Loading runs" />
          )}
        </>
      )}
    </Page>
  )
}

function useCompared(name: string, id: string) {
  const api = useApi()
  const run = useQuery(executionQuery(api, name, id))
  const trace = useQuery(traceQuery(api, id))
  return {
    side: run.data && trace.data ? { run: run.data, trace: trace.data } : null,
    error: run.error ?? trace.error,
    retry() {
      void run.refetch()
      void trace.refetch()
    },
  }
}
