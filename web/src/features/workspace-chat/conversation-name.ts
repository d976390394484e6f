import type { Conversation } from '@roost/contracts/conversations/workspace-conversations'

/** What a conversation is called where it stands among others of the same agent. */
export function conversationName({
  title,
  is_main,
  archived_at,
}: Pick<Conversation, 'title' | 'is_main' | 'archived_at'>): string {
  if (is_main) return 'Main'
  return title ?? (archived_at === null ? 'Untitled' : 'Main before')
}
