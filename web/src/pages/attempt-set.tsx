import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { Comparison } from '../features/attempts/comparison.tsx'
import { attemptSetQuery } from '../features/attempts/queries.ts'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { SkeletonText } from '../ui/skeleton.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/agents/$name/attempts/$set')({ component: AttemptSetPage })

/** One set of attempts, compared. */
function AttemptSetPage() {
  const { name, set } = route.useParams()
  const { attempt = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, refetch } = useQuery(attemptSetQuery(useApi(), name, set))
  return (
    <Page>
      <Title of={['Attempts', name]} />
      {data && (
        <Comparison
          set={data}
          chosen={attempt}
          onChoose={(number) =>
            void navigate({ search: { attempt: number }, replace: true, resetScroll: false })
          }
        />
      )}
      {!data && <h1 className="sr-only">Attempts of {name}</h1>}
      {error && !data && (
        <ErrorState title="Could not load the attempts" error={error} onRetry={() => void refetch()} />
      )}
      {!error && !data && <SkeletonText lines={8} label="Loading attempts" />}
    </Page>
  )
}
