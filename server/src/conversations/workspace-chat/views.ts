import type { Conversation } from '@roost/contracts/conversations/workspace-conversations'
import { type MessageRow, outcomeMessage, type SessionRow, storedFiles } from '../chat/index.ts'
import type { ChatStatesTable } from './tables.ts'

/** Unique key of the Main conversation of a person with an agent. */
export function mainKey(agentId: string, holder: string): string {
  return `main:${agentId}:${holder}`
}

export function isMain(row: Pick<SessionRow, 'current_key'>): boolean {
  return row.current_key?.startsWith('main:') ?? false
}

export function conversationView(
  row: SessionRow,
  agentName: string,
  state: Pick<ChatStatesTable, 'starred'> | null,
  unread: number,
): Conversation {
  return {
    id: row.id,
    agent_name: agentName,
    title: row.title,
    is_main: isMain(row),
    archived_at: row.closed_at,
    message_count: row.message_count,
    created_at: row.started_at,
    last_message_at: row.last_message_at,
    starred: state?.starred === 1,
    unread,
  }
}

export function messageView(row: MessageRow) {
  return {
    id: row.id,
    role: row.role,
    content: row.content,
    created_at: row.timestamp,
    my_rating: row.rating,
    source: row.source,
    voice_call_id: row.voice_call_id,
    files: storedFiles(row.files) ?? [],
  }
}

/** Error codes after which a retry may succeed. */
const retryableCodes: readonly string[] = [
  'timeout',
  'stalled',
  'rate_limited',
  'network',
  'agent_lost',
  'lease_expired',
  'no_result',
  'agent_error',
  'agent_stopped',
  'user_cancelled',
]

/** The outcome of the last turn when it failed; null when it succeeded. */
export function outcomeOf(last: MessageRow | undefined) {
  if (last?.role !== 'user' || last.error_code === null) return null
  return {
    execution_id: last.execution_id ?? '',
    category: last.error_code,
    message: outcomeMessage(last.error_code),
    retryable: retryableCodes.includes(last.error_code),
  }
}

const maxSnippetLength = 160

/** The phrase with its surrounding text, in one line. */
export function snippetOf(content: string, phrase: string): string {
  const text = content.replaceAll(/\s+/g, ' ').trim()
  const at = Math.max(0, text.toLowerCase().indexOf(phrase.toLowerCase().replaceAll(/\s+/g, ' ')))
  const start = Math.max(0, at - (maxSnippetLength - phrase.length) / 2)
  const piece = text.slice(start, start + maxSnippetLength).toWellFormed()
  return `${start > 0 ? '…' : ''}${piece}${start + maxSnippetLength < text.length ? '…' : ''}`
}
