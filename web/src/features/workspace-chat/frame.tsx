import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Outlet, useMatch, useNavigate } from '@tanstack/react-router'
import { Forward, Inbox, MessagesSquare } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { cx } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { SearchInput } from '../../ui/input.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { asksQuery, rosterQuery } from './queries.ts'
import { Roster } from './roster.tsx'
import { SearchResults } from './search-results.tsx'
import { StarredLinks } from './starred-links.tsx'
import { useSelected } from './use-selected.ts'

const route = getRouteApi('/workspace/frame')

/** The Workspace: the agents shared with the user on the left, the current conversation on the right. */
export function WorkspaceFrame() {
  const { q = '' } = route.useSearch()
  const navigate = useNavigate()
  // The home page of phones shows the list only.
  const isHome = useMatch({ from: '/workspace/frame/', shouldThrow: false }) !== undefined
  const roster = useQuery(rosterQuery(useApi()))
  const search = (words: string) =>
    void navigate({
      // Keeps an open conversation open.
      to: '.',
      search: (now) => ({ ...now, q: words || undefined }),
      replace: true,
      resetScroll: false,
    })
  // The conversation sets the document title when one is shown.
  const Heading = isHome ? 'h1' : 'p'
  return (
    <div className="flex min-h-96 min-w-0 flex-1 basis-0">
      <aside
        aria-label="Your agents"
        className={cx(
          'w-full shrink-0 flex-col border-line md:flex md:w-64 md:border-r',
          isHome ? 'flex' : 'hidden',
        )}
      >
        <div className="flex flex-col gap-3 px-4 pt-4 pb-2">
          <div className="flex items-center justify-between gap-2">
            <Heading className="font-semibold text-lg">Workspace</Heading>
            <PageHelp guide="how-to/workspace" topic="Workspace" />
          </div>
          <SearchInput label="Search conversations" placeholder="Search" value={q} onValueChange={search} />
        </div>
        <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
          {q.trim() !== '' ? (
            <SearchResults words={q.trim()} />
          ) : roster.data ? (
            <Ways agents={roster.data.agents} />
          ) : roster.error ? (
            <ErrorState
              title="Could not load your agents"
              error={roster.error}
              onRetry={() => void roster.refetch()}
            />
          ) : (
            <SkeletonList rows={6} label="Loading your agents" />
          )}
        </div>
      </aside>
      <div className={cx('min-h-0 min-w-0 flex-1 flex-col md:flex', isHome ? 'hidden' : 'flex')}>
        <Outlet />
      </div>
    </div>
  )
}

function Ways({ agents }: { agents: readonly RosterAgent[] }) {
  const { agent, chat } = useSelected()
  if (agents.length === 0) {
    return (
      <>
        <SharedLink />
        <EmptyState
          icon={<MessagesSquare aria-hidden />}
          title="No agents are shared with you"
          description="Ask the owner of an agent to share it with your e-mail address."
        />
      </>
    )
  }
  return (
    <>
      <InboxLink />
      <SharedLink />
      <StarredLinks agents={agents} chat={chat} />
      <Roster agents={agents} selected={agent} chat={chat} />
    </>
  )
}

const linkClass =
  'mb-2 flex h-8 items-center gap-2.5 rounded-md px-2 text-muted text-sm hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink'

function SharedLink() {
  return (
    <Link to="/shared" className={linkClass}>
      <span className="grid w-7 place-items-center">
        <Forward aria-hidden className="size-4" />
      </span>
      Shared with you
    </Link>
  )
}

function InboxLink() {
  const asks = useQuery(asksQuery(useApi()))
  const waiting = (asks.data ?? []).filter(({ status }) => status === 'pending').length
  return (
    <Link to="/workspace/inbox" className={linkClass}>
      <span className="grid w-7 place-items-center">
        <Inbox aria-hidden className="size-4" />
      </span>
      Questions for you
      {waiting > 0 && (
        <span
          data-numeric
          className="ml-auto rounded-full bg-accent px-1.5 font-medium text-2xs text-accent-ink leading-4"
        >
          {waiting}
          <span className="sr-only"> waiting</span>
        </span>
      )}
    </Link>
  )
}
