import type { Clock } from '../kit/clock.ts'

export type PieceKind = 'text' | 'thinking'

/**
 * Gathers pieces of an answer: the first goes out at once, what follows within 30 ms goes together. A
 * message for each token would cost more than it shows.
 */
export type Partials = {
  add(kind: PieceKind, text: string): void
  /** Before a line is appended, so that a reader sees both in order. */
  flush(): void
}

const batchMs = 30

export function createPartials(clock: Clock, send: (kind: PieceKind, text: string) => void): Partials {
  let waiting: { kind: PieceKind; text: string } | null = null
  let cancel: (() => void) | null = null

  function flush() {
    const piece = waiting
    waiting = null
    if (piece) send(piece.kind, piece.text)
  }

  function rest() {
    cancel = clock.after(batchMs, () => {
      cancel = null
      if (!waiting) return
      flush()
      rest()
    })
  }

  return {
    add(kind, text) {
      if (waiting && waiting.kind !== kind) flush()
      if (!cancel) {
        send(kind, text)
        return rest()
      }
      waiting = { kind, text: (waiting?.text ?? '') + text }
    },
    flush() {
      flush()
      cancel?.()
      cancel = null
    },
  }
}
