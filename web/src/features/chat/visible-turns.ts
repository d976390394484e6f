import type { ChatMessage } from '@roost/contracts/conversations/chat'
import type { LiveTurn } from './live-turns.ts'
import { isOpen, type Turn } from './turns-of.ts'

/** A turn on the page: its stored messages, and the live state if this page reads it. */
export type VisibleTurn = { key: string; stored: Turn | null; live: LiveTurn | null }

export type TurnActions = {
  /** Sends the same message again. */
  onRetry: (turn: Omit<VisibleTurn, 'key'>) => void
  /** Moves the question back to the composer and removes a refused turn. */
  onEdit: (turn: Omit<VisibleTurn, 'key'>) => void
  /** Starts a conversation with the messages up to this one. */
  onBranch: (message: ChatMessage) => void
}

/**
 * Merges stored turns with live ones; turns that are not stored yet come last. While a message is being sent, a stored
 * turn with the same text is hidden, because it may be the same message.
 */
export function visibleTurns(stored: readonly Turn[], live: readonly LiveTurn[]): VisibleTurn[] {
  const byExecution = new Map(live.map((turn) => [turn.executionId, turn]))
  const sending = live.filter(({ phase }) => phase === 'sending')
  const isBeingSent = (turn: Turn) =>
    isOpen(turn) && sending.some(({ question }) => question?.message === turn.question?.content)
  const known = new Set(stored.map(({ executionId }) => executionId))
  return [
    ...stored
      .filter((turn) => byExecution.has(turn.executionId) || !isBeingSent(turn))
      .map((turn) => {
        const reading = turn.executionId === null ? null : (byExecution.get(turn.executionId) ?? null)
        return { key: reading?.key ?? turn.key, stored: turn, live: reading }
      }),
    ...live
      .filter(({ executionId }) => executionId === null || !known.has(executionId))
      .map((turn) => ({ key: turn.key, stored: null, live: turn })),
  ]
}

/** The turn that Stop ends: the first unfinished one. */
export function turnToStop(live: readonly LiveTurn[]): LiveTurn | null {
  return live.find(({ phase }) => phase === 'waiting' || phase === 'working') ?? null
}

/** Returns the open runs that this page does not follow yet. */
export function unread(stored: readonly Turn[], live: readonly LiveTurn[]): string[] {
  return stored.flatMap((turn) => {
    const { executionId } = turn
    if (executionId === null || !isOpen(turn)) return []
    return live.some((each) => each.executionId === executionId) ? [] : [executionId]
  })
}
