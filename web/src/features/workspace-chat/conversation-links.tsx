import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { describeFault } from '../../lib/fault.ts'
import { useApi, useApp } from '../../shell/app-context.ts'
import { cx } from '../../ui/class-names.ts'
import { toast } from '../../ui/toast.tsx'
import { beginConversation, conversationsQuery, workspaceKeys } from './queries.ts'

/** Main and what stands beside it. */
export function ConversationLinks({ name, chat }: { name: string; chat: string | null }) {
  const conversations = useQuery(conversationsQuery(useApi(), name))
  const { api, queries } = useApp()
  const navigate = useNavigate()
  const begin = useMutation({
    mutationFn: () => beginConversation(api, name),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: workspaceKeys.conversations(name) })
      void navigate({ to: '/workspace/$agent', params: { agent: name }, search: { chat: id } })
    },
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
  })
  const shown = (conversations.data ?? []).filter(({ archived_at }) => archived_at === null)
  return (
    <ul aria-label={`Conversations with ${name}`} className="mt-0.5 mb-1 ml-6 border-l border-line pl-3">
      {shown.map(({ id, title, is_main, unread }) => {
        const isShown = is_main ? chat === null || chat === id : chat === id
        return (
          <li key={id}>
            <Link
              to="/workspace/$agent"
              params={{ agent: name }}
              search={is_main ? {} : { chat: id }}
              activeOptions={{ exact: true, includeSearch: true }}
              aria-current={isShown ? 'page' : undefined}
              className={cx(
                'flex min-h-7 items-center gap-2 rounded-sm px-2 text-sm hover:bg-hover',
                isShown ? 'font-medium text-ink' : 'text-muted',
              )}
            >
              <span className="min-w-0 flex-1 truncate">{is_main ? 'Main' : (title ?? 'Untitled')}</span>
              {unread > 0 && (
                <span className="text-accent text-xs">
                  {unread}
                  <span className="sr-only"> unread</span>
                </span>
              )}
            </Link>
          </li>
        )
      })}
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
    </ul>
  )
}
