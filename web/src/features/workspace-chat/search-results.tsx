import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi } from '../../shell/app-context.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useDebounced } from '../../ui/use-debounced.ts'
import { searchQuery } from './queries.ts'
import { useSelected } from './use-selected.ts'

/** Debounce of the search text in milliseconds. */
const settledMs = 250

/** Conversations that contain the words, newest first. */
export function SearchResults({ words }: { words: string }) {
  const settled = useDebounced(words, settledMs)
  const results = useQuery(searchQuery(useApi(), settled))
  const { chat } = useSelected()
  if (!results.data) {
    if (!results.error) return <SkeletonList rows={4} label="Searching" />
    return (
      <ErrorState
        title="Could not search the conversations"
        error={results.error}
        onRetry={() => void results.refetch()}
      />
    )
  }
  if (results.data.length === 0)
    return <EmptyState title="No results" description={`No message contains “${settled}”.`} />
  return (
    <ul aria-label="Search results" aria-busy={results.isPlaceholderData} className="flex flex-col gap-0.5">
      {results.data.map(({ session_id, agent_name, title, snippet, last_message_at }) => (
        <li key={session_id}>
          <Link
            to="/workspace/c/$id"
            params={{ id: session_id }}
            search={({ q }) => ({ q })}
            aria-current={session_id === chat ? 'page' : undefined}
            className="block rounded-md px-2 py-2 hover:bg-hover aria-[current=page]:bg-hover"
          >
            <span className="flex items-baseline justify-between gap-2">
              <span className="min-w-0 truncate font-medium text-sm">
                {agent_name}
                {title !== null && <span className="font-normal text-muted"> · {title}</span>}
              </span>
              <RelativeTime at={last_message_at} className="shrink-0 text-muted text-xs" />
            </span>
            <span className="mt-0.5 line-clamp-2 text-muted text-xs [overflow-wrap:anywhere]">
              <Marked text={snippet} words={settled} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** The text with the matches highlighted. */
function Marked({ text, words }: { text: string; words: string }) {
  const at = text.toLowerCase().indexOf(words.toLowerCase())
  if (at === -1) return text
  return (
    <>
      {text.slice(0, at)}
      <mark className="rounded-xs bg-accent-soft font-medium text-ink">
        {text.slice(at, at + words.length)}
      </mark>
      {text.slice(at + words.length)}
    </>
  )
}
