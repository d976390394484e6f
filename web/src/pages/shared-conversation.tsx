import { ApiError } from '@roost/contracts/client'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { MessagesSquare } from 'lucide-react'
import { useMemo } from 'react'
import {
  sharedConversationQuery,
  sharedListQuery,
  sharedPictures,
} from '../features/shared-conversations/queries.ts'
import { SharedMessages } from '../features/shared-conversations/shared-messages.tsx'
import { useApi } from '../shell/app-context.ts'
import { Page } from '../shell/page.tsx'
import { PageHelp } from '../shell/page-help.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { SkeletonList, SkeletonText } from '../ui/skeleton.tsx'
import { RelativeTime } from '../ui/time.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/signed-in/shared/$id')({ component: SharedConversationPage })
export const listRoute = createLazyRoute('/signed-in/shared')({ component: SharedListPage })

const help = <PageHelp guide="how-to/chat" topic="Shared conversations" />

/** A conversation of another person, to read. */
function SharedConversationPage() {
  const { id } = route.useParams()
  const api = useApi()
  const shared = useInfiniteQuery(sharedConversationQuery(api, id))
  const pictures = useMemo(() => sharedPictures(api, id), [api, id])
  const pages = shared.data?.pages ?? []
  const conversation = pages[0]?.conversation
  if (!conversation) return <NotShown error={shared.error} onRetry={() => void shared.refetch()} />
  const { title, agent_name, agent_label, shared_by, shared_at } = conversation
  const messages = pages.toReversed().flatMap((page) => page.messages)
  const agentLabel = agent_label ?? agent_name
  const name = title ?? 'Conversation'
  return (
    <Page width="text">
      <Title of={[name, 'Shared with you']} />
      <PageHeader
        title={name}
        aside={
          <>
            <Badge>Read-only</Badge>
            {help}
          </>
        }
        back={<Link to="/shared">Shared with you</Link>}
        description={
          <>
            {shared_by} shared this conversation with the agent {agentLabel} <RelativeTime at={shared_at} />.
          </>
        }
      />
      {shared.hasNextPage && (
        <div className="flex justify-center pb-5">
          <Button
            size="sm"
            variant="ghost"
            pending={shared.isFetchingNextPage}
            onClick={() => void shared.fetchNextPage()}
          >
            Load earlier messages
          </Button>
        </div>
      )}
      {messages.length === 0 ? (
        <p className="text-muted text-sm">This conversation has no messages yet.</p>
      ) : (
        <SharedMessages
          messages={messages}
          agentLabel={agentLabel}
          sharedBy={shared_by}
          pictures={pictures}
        />
      )}
    </Page>
  )
}

function NotShown({ error, onRetry }: { error: Error | null; onRetry: () => void }) {
  const isUnknown = error instanceof ApiError && error.status === 404
  return (
    <Page width="text">
      <Title of={['Shared conversation']} />
      {isUnknown ? (
        <EmptyState
          isPage
          icon={<MessagesSquare aria-hidden />}
          title="This conversation is not shared with you"
          description="The share has ended, or it is for another account. Ask the sender, or sign in with that account."
        />
      ) : error ? (
        <ErrorState title="Could not load the conversation" error={error} onRetry={onRetry} />
      ) : (
        <SkeletonText lines={6} label="Loading conversation" />
      )}
    </Page>
  )
}

/** All conversations that others share with the user. */
function SharedListPage() {
  const shared = useQuery(sharedListQuery(useApi()))
  return (
    <Page width="text">
      <Title of={['Shared with you']} />
      <PageHeader
        title="Shared with you"
        aside={help}
        description="Conversations that other people let you read."
      />
      {shared.data?.length === 0 ? (
        <EmptyState
          icon={<MessagesSquare aria-hidden />}
          title="No shared conversations"
          description="People share a conversation from the menu of the conversation in their chat."
        />
      ) : shared.data ? (
        <ul aria-label="Shared conversations" className="divide-y divide-line rounded-lg border border-line">
          {shared.data.map(({ share_id, title, agent_label, agent_name, shared_by, shared_at }) => (
            <li key={share_id}>
              <Link to="/shared/$id" params={{ id: share_id }} className="block px-3 py-2 hover:bg-hover">
                <span className="block truncate font-medium text-sm">{title ?? 'Conversation'}</span>
                <span className="flex flex-wrap gap-x-2 text-muted text-xs">
                  <span>{agent_label ?? agent_name}</span>
                  <span>from {shared_by}</span>
                  <RelativeTime at={shared_at} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      ) : shared.error ? (
        <ErrorState
          title="Could not load the conversations"
          error={shared.error}
          onRetry={() => void shared.refetch()}
        />
      ) : (
        <SkeletonList rows={4} label="Loading conversations" />
      )}
    </Page>
  )
}
