import type { LiveTurn } from '../chat/live-turns.ts'

export type Message = { id: string; role: 'user' | 'assistant'; content: string }

/**
 * What stands in a conversation: the stored messages, and behind them the turns that are not over. The question
 * of a turn that was sent from here is stored while it goes on; it is shown once, with its turn.
 */
export function shownMessages<Stored extends Message>(
  stored: readonly Stored[],
  live: readonly LiveTurn[],
): { stored: readonly Stored[]; live: readonly LiveTurn[] } {
  const going = live.filter(({ phase }) => phase !== 'ended')
  const last = stored.at(-1)
  const isAsked = going.some(({ asked }) => asked !== null && asked.message.trim() === last?.content.trim())
  return { stored: last?.role === 'user' && isAsked ? stored.slice(0, -1) : stored, live: going }
}
