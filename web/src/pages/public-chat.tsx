import { ApiError } from '@roost/contracts/client'
import { useQuery } from '@tanstack/react-query'
import { createLazyRoute } from '@tanstack/react-router'
import { LinkIcon } from 'lucide-react'
import { useMemo, useSyncExternalStore } from 'react'
import { ConfirmAddress } from '../features/public-chat/confirm-address.tsx'
import { PublicConversation } from '../features/public-chat/public-conversation.tsx'
import { publicChatQuery } from '../features/public-chat/queries.ts'
import { createVisit, identityOf } from '../features/public-chat/visit.ts'
import { useApi } from '../shell/app-context.ts'
import { PagePending } from '../shell/page-pending.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Title } from '../ui/title.tsx'

export const route = createLazyRoute('/chat/$token')({ component: PublicChatPage })

/** Chat with one agent for anyone who has its public link. */
function PublicChatPage() {
  const { token } = route.useParams()
  const chat = useQuery(publicChatQuery(useApi(), token))
  const visit = useMemo(() => createVisit(localStorage, window, token), [token])
  const as = useSyncExternalStore(visit.onChange, visit.snapshot)
  if (chat.error instanceof ApiError && chat.error.status === 404) {
    return (
      <main className="grid min-h-dvh place-items-center bg-canvas text-ink">
        <EmptyState
          isPage
          icon={<LinkIcon aria-hidden />}
          title="This link is not valid"
          description="The link has expired or was disabled. Ask the sender for a new link."
        />
      </main>
    )
  }
  if (chat.data) {
    const { agent_label: label, agent_available, require_email } = chat.data
    return (
      <>
        <Title of={[label]} />
        {require_email && !identityOf(as).session_token ? (
          <ConfirmAddress token={token} label={label} visit={visit} />
        ) : (
          <PublicConversation
            key={token}
            token={token}
            label={label}
            welcome={chat.data}
            isAvailable={agent_available}
            visit={visit}
          />
        )}
      </>
    )
  }
  if (!chat.error) return <PagePending />
  return (
    <main className="grid min-h-dvh place-items-center bg-canvas text-ink">
      <ErrorState title="Could not load the chat" error={chat.error} onRetry={() => void chat.refetch()} />
    </main>
  )
}
