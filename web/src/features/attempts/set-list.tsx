import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Cost } from '../../ui/cost.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { attemptSetsQuery } from './queries.ts'
import { setWords } from './words.ts'

/** The sets of attempts of an agent, newest first. */
export function SetList({ name }: { name: string }) {
  const { data, error, refetch } = useQuery(attemptSetsQuery(useApi(), name))
  if (error && !data)
    return <ErrorState title="Could not load the attempts" error={error} onRetry={() => void refetch()} />
  if (!data) return <SkeletonList rows={3} label="Loading attempts" />
  if (data.sets.length === 0)
    return (
      <EmptyState
        title="No attempts yet"
        description="Try one task several times on copies of the agent, compare the results, and keep the best."
      />
    )
  return (
    <ul
      aria-label="Sets of attempts"
      className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
    >
      {data.sets.map((set) => {
        const { word, tone } = setWords[set.status]
        return (
          <li key={set.id} className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
            <Link
              to="/agents/$name/attempts/$set"
              params={{ name, set: set.id }}
              className="min-w-0 flex-1 basis-48 truncate font-medium hover:underline"
            >
              {set.task}
            </Link>
            <Badge tone={tone}>{set.kept === null ? word : `Kept attempt ${set.kept}`}</Badge>
            <span className="text-muted text-xs">
              {set.passed} of {plural(set.total, 'attempt')} passed
            </span>
            <Cost usd={set.cost} className="text-xs" />
            <RelativeTime at={set.created_at} className="text-muted text-xs" />
          </li>
        )
      })}
    </ul>
  )
}
