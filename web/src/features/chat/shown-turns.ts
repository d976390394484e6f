import type { LiveTurn } from './live-turns.ts'
import { isOpen, type Turn } from './turns-of.ts'

/** A turn as the page shows it: what is stored of it, and what this page reads or has read of it. */
export type ShownTurn = { key: string; stored: Turn | null; live: LiveTurn | null }

export type TurnActions = {
  /** Asks the same again. */
  onRetry: (turn: Omit<ShownTurn, 'key'>) => void
  /** Puts the question back into the composer and takes a refused turn away. */
  onEdit: (turn: Omit<ShownTurn, 'key'>) => void
}

/**
 * Stored turns with the live ones laid over them; what is not stored yet comes last. While a message is being
 * sent, the stored turn that it may be already is left out, so that it never stands there twice.
 */
export function shownTurns(stored: readonly Turn[], live: readonly LiveTurn[]): ShownTurn[] {
  const byExecution = new Map(live.map((turn) => [turn.executionId, turn]))
  const sending = live.filter(({ phase }) => phase === 'sending')
  const isBeingSent = (turn: Turn) =>
    isOpen(turn) && sending.some(({ asked }) => asked?.message === turn.question?.content)
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

/** The turn that the Stop button ends: the first that is not over. */
export function turnToStop(live: readonly LiveTurn[]): LiveTurn | null {
  return live.find(({ phase }) => phase === 'waiting' || phase === 'working') ?? null
}

/** Runs that nobody on this page reads yet. */
export function unread(stored: readonly Turn[], live: readonly LiveTurn[]): string[] {
  return stored.flatMap((turn) => {
    const { executionId } = turn
    if (executionId === null || !isOpen(turn)) return []
    return live.some((each) => each.executionId === executionId) ? [] : [executionId]
  })
}
