import type { CallReply } from '@roost/contracts/client'
import type { searchConversations } from '@roost/contracts/conversations/workspace-conversations'
import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { titleOf } from '../../features/executions/first-line.ts'
import { runsQuery } from '../../features/executions/queries.ts'
import { statusWords } from '../../features/executions/words.ts'
import { searchQuery } from '../../features/workspace-chat/queries.ts'
import { useDebounced } from '../../ui/use-debounced.ts'
import { useApi } from '../app-context.ts'

/** Milliseconds without a key press before the platform is searched. */
const settledMs = 250
const leastLetters = 2
const most = 5

/** A run or a conversation that contains the text. */
export type Found = { id: string; title: string; detail: string; href: string }

/** Searches as the pages of runs and of the Workspace do. A newer text aborts the request of the older one. */
export function useFound(typed: string) {
  const api = useApi()
  const text = typed.trim()
  const settled = useDebounced(text, settledMs)
  const enabled = settled.length >= leastLetters && settled === text
  const runs = useQuery({
    ...runsQuery(api, { search: settled, hours: 0 }, 1, most),
    enabled,
    placeholderData: undefined,
  })
  const conversations = useQuery({ ...searchQuery(api, settled, most), enabled, placeholderData: undefined })
  const isShort = text.length < leastLetters
  // Both appear together, so that the selected item does not move down after it was read.
  const isReady = enabled && !runs.isLoading && !conversations.isLoading
  return {
    isSearching: !isShort && !isReady,
    hasFailed: isReady && (runs.isError || conversations.isError),
    runs: isReady ? (runs.data?.rows ?? []).map(runOf) : [],
    conversations: isReady ? (conversations.data ?? []).map(conversationOf) : [],
  }
}

type Conversation = CallReply<typeof searchConversations>['results'][number]

function runOf({
  id,
  agent_name: name,
  agent_deleted: isDeleted,
  message,
  redacted,
  status,
}: ExecutionSummary): Found {
  return {
    id: `run ${id}`,
    title: redacted ? 'Private conversation' : titleOf(message),
    detail: `${name}${isDeleted ? ' (deleted)' : ''} · ${statusWords[status].label}`,
    href: isDeleted ? `/executions/${id}` : `/agents/${encodeURIComponent(name)}/executions/${id}`,
  }
}

function conversationOf({ session_id: id, agent_name: name, title, snippet }: Conversation): Found {
  return {
    id: `conversation ${id}`,
    title: snippet,
    detail: title === null ? name : `${name} · ${title}`,
    href: `/workspace/c/${id}`,
  }
}
