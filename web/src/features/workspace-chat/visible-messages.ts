import type { LiveTurn } from '../chat/live-turns.ts'

export type Message = { id: string; role: 'user' | 'assistant'; content: string }

/**
 * The stored messages, followed by unfinished turns. The platform stores the question of a running turn as
 * well; it is shown once, with its turn.
 */
export function visibleMessages<Stored extends Message>(
  stored: readonly Stored[],
  live: readonly LiveTurn[],
): { stored: readonly Stored[]; live: readonly LiveTurn[] } {
  const going = live.filter(({ phase }) => phase !== 'ended')
  const last = stored.at(-1)
  const hasQuestion = going.some(
    ({ question }) => question !== null && question.message.trim() === last?.content.trim(),
  )
  return { stored: last?.role === 'user' && hasQuestion ? stored.slice(0, -1) : stored, live: going }
}
