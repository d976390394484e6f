import type { UseQueryResult } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'

type PartProps<Data> = {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'isError' | 'refetch'>
  /** What failed, e.g. `Could not load the failed runs`. */
  failure: string
  children: (data: Data) => ReactNode
}

/** A part of the page, which loads and fails by itself. */
export function Part<Data>({ query, failure, children }: PartProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  if (!query.isError) return <Skeleton className="h-32 w-full rounded-lg" />
  return (
    <ErrorState
      title={failure}
      error={query.error}
      onRetry={() => void query.refetch()}
      className="w-full max-w-none rounded-lg border border-line bg-surface"
    />
  )
}

/** One line instead of a card, for a part that has nothing to show. */
export function Quiet({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-center gap-2 text-muted text-sm lg:col-span-2">
      <CircleCheck aria-hidden className="size-4 shrink-0 text-success" />
      {children}
    </p>
  )
}

/** The classes of a row that is a link, inside a list with the margin `-mx-2`. */
export const rowClass = 'block min-w-0 rounded-md px-2 py-1.5 text-sm hover:bg-hover'
export const moreClass = 'text-accent text-xs hover:underline'
/** The classes of a link among words. */
export const wordLinkClass = 'inline-block py-0.5 underline underline-offset-2 hover:text-ink'
