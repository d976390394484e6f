import type { Conversation } from '@roost/contracts/conversations/workspace-conversations'

/** The name of a conversation in the list of one agent. */
export function conversationName({
  title,
  is_main,
  archived_at,
}: Pick<Conversation, 'title' | 'is_main' | 'archived_at'>): string {
  if (is_main) return 'Main'
  return title ?? (archived_at === null ? 'Untitled' : 'Previous Main')
}
