import { useQuery } from '@tanstack/react-query'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { searchQuery } from './content.ts'
import { GuideLink } from './guide-link.tsx'

const maxResults = 30

/** The sections that match the query, best first. */
export function GuideResults({ query }: { query: string }) {
  const index = useQuery(searchQuery)
  if (index.error) return <ErrorState error={index.error} onRetry={() => void index.refetch()} />
  if (!index.data) return <Skeleton className="h-72 w-full" />
  const found = index.data.search(query)
  const results = found.slice(0, maxResults)
  return (
    <>
      <h1 className="font-semibold text-2xl tracking-tight">Search results</h1>
      <p role="status" className="mt-1 text-muted text-sm">
        {countLine(query, found.length)}
      </p>
      <ul className="mt-4 flex flex-col gap-3">
        {results.map(({ id, title, heading, excerpt }) => (
          <li key={String(id)} className="rounded-md border border-line bg-surface px-4 py-3">
            <GuideLink path={String(id)} className="font-medium text-accent hover:underline">
              {heading === '' ? String(title) : `${title}: ${heading}`}
            </GuideLink>
            <p className="mt-1 text-muted text-sm [overflow-wrap:anywhere]">{String(excerpt)}</p>
          </li>
        ))}
      </ul>
    </>
  )
}

function countLine(query: string, count: number): string {
  if (count === 0) return `No section matches “${query}”. Try fewer or other words.`
  if (count > maxResults) return `The best ${maxResults} of ${count} sections`
  return count === 1 ? '1 section' : `${count} sections`
}
