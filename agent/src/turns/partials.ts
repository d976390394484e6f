import type { Clock } from '../kit/clock.ts'

export type PieceKind = 'text' | 'thinking'

/**
 * Batches pieces of an answer: sends the first immediately and those of the next 30 ms together. One message
 * per token would cost too much.
 */
export type Partials = {
  add(kind: PieceKind, text: string): void
  /** Called before a line is appended, so that readers see both in order. */
  flush(): void
}

const batchMs = 30

export function createPartials(clock: Clock, send: (kind: PieceKind, text: string) => void): Partials {
  let pending: { kind: PieceKind; text: string } | null = null
  let cancel: (() => void) | null = null

  function flush() {
    const piece = pending
    pending = null
    if (piece) send(piece.kind, piece.text)
  }

  function startBatch() {
    cancel = clock.after(batchMs, () => {
      cancel = null
      if (!pending) return
      flush()
      startBatch()
    })
  }

  return {
    add(kind, text) {
      if (pending && pending.kind !== kind) flush()
      if (!cancel) {
        send(kind, text)
        return startBatch()
      }
      pending = { kind, text: (pending?.text ?? '') + text }
    },
    flush() {
      flush()
      cancel?.()
      cancel = null
    },
  }
}
