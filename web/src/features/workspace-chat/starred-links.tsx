import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Star } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { conversationName } from './conversation-name.ts'
import { everyConversationQuery } from './queries.ts'

/** The starred conversations with all agents; renders nothing without any. */
export function StarredLinks({ agents, chat }: { agents: readonly RosterAgent[]; chat: string | null }) {
  const every = useQuery(everyConversationQuery(useApi()))
  const starred = (every.data ?? []).filter((conversation) => conversation.starred)
  if (starred.length === 0) return null
  return (
    <nav aria-labelledby="starred" className="mb-3">
      <h2 id="starred" className="px-2 pb-1 font-medium text-faint text-xs">
        Starred
      </h2>
      <ul className="flex flex-col gap-px">
        {starred.map((conversation) => (
          <li key={conversation.id}>
            <Link
              to="/workspace/c/$id"
              params={{ id: conversation.id }}
              aria-current={conversation.id === chat ? 'page' : undefined}
              className="flex min-h-7 items-center gap-2.5 rounded-md px-2 text-muted text-sm hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:text-ink"
            >
              <span className="grid w-7 shrink-0 place-items-center">
                <Star aria-hidden className="size-3.5 fill-current" />
              </span>
              <span className="min-w-0 flex-1 truncate">
                {agents.find(({ name }) => name === conversation.agent_name)?.label ??
                  conversation.agent_name}
                <span className="text-faint"> · {conversationName(conversation)}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
