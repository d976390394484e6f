import type { Conversation } from '@roost/contracts/conversations/workspace-conversations'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Archive, ChevronRight, Plus, Star } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { cx } from '../../ui/class-names.ts'
import { RelativeTime } from '../../ui/time.tsx'
import { conversationName } from './conversation-name.ts'
import { conversationsQuery } from './queries.ts'
import { useConversationActions } from './use-conversation-actions.ts'

/** Main, the other conversations, and archived ones on request. */
export function ConversationLinks({ name, chat }: { name: string; chat: string | null }) {
  const conversations = useQuery(conversationsQuery(useApi(), name))
  const { begin } = useConversationActions(name)
  const all = conversations.data ?? []
  const open = all.filter(({ archived_at }) => archived_at === null)
  const archived = all.filter(({ archived_at }) => archived_at !== null)
  const [isUnfolded, setUnfolded] = useState(false)
  // The current conversation is never hidden.
  const isArchiveShown = isUnfolded || archived.some(({ id }) => id === chat)
  return (
    <ul aria-label={`Conversations with ${name}`} className="mt-0.5 mb-1 ml-5.5 border-l border-line pl-2">
      {open.map((conversation) => (
        <ConversationLink key={conversation.id} conversation={conversation} chat={chat} />
      ))}
      <li>
        <button
          type="button"
          disabled={begin.isPending}
          onClick={() => begin.mutate()}
          className="flex h-7 w-full items-center gap-1.5 rounded-sm px-2 text-left text-muted text-sm hover:bg-hover hover:text-ink"
        >
          <Plus aria-hidden className="size-3.5" />
          New conversation
        </button>
      </li>
      {archived.length > 0 && (
        <li>
          <button
            type="button"
            aria-expanded={isArchiveShown}
            onClick={() => setUnfolded(!isArchiveShown)}
            className="flex h-7 w-full items-center gap-1.5 rounded-sm px-2 text-left text-muted text-sm hover:bg-hover hover:text-ink"
          >
            <ChevronRight
              aria-hidden
              className={cx('size-3.5 transition-transform', isArchiveShown && 'rotate-90')}
            />
            Archived
            <span className="text-faint text-xs" data-numeric>
              {archived.length}
            </span>
          </button>
        </li>
      )}
      {isArchiveShown &&
        archived.map((conversation) => (
          <ConversationLink key={conversation.id} conversation={conversation} chat={chat} />
        ))}
    </ul>
  )
}

function ConversationLink({ conversation, chat }: { conversation: Conversation; chat: string | null }) {
  const { id, agent_name, is_main, unread, starred, archived_at, last_message_at, created_at } = conversation
  const isShown = id === chat
  const className = cx(
    'flex min-h-7 items-center gap-1.5 rounded-sm px-2 text-sm hover:bg-hover',
    isShown ? 'bg-hover font-medium text-ink' : 'text-muted',
  )
  const content = (
    <>
      {archived_at !== null && <Archive aria-hidden className="size-3.5 shrink-0" />}
      <span className="min-w-0 flex-1 truncate">{conversationName(conversation)}</span>
      {archived_at !== null && (
        <RelativeTime at={last_message_at ?? created_at} className="shrink-0 text-faint text-xs" />
      )}
      {starred && (
        <>
          <Star aria-hidden className="size-3 shrink-0 fill-current" />
          <span className="sr-only">starred</span>
        </>
      )}
      {unread > 0 && (
        <span className="text-accent text-xs" data-numeric>
          {unread}
          <span className="sr-only"> unread</span>
        </span>
      )}
    </>
  )
  const current = isShown ? ('page' as const) : undefined
  return (
    <li>
      {is_main ? (
        <Link
          to="/workspace/a/$agent"
          params={{ agent: agent_name }}
          aria-current={current}
          className={className}
        >
          {content}
        </Link>
      ) : (
        <Link to="/workspace/c/$id" params={{ id }} aria-current={current} className={className}>
          {content}
        </Link>
      )}
    </li>
  )
}
