import { maxPieceLength, type PieceKind } from '@roost/contracts/link/transcript'
import type { Clock } from '../kit/clock.ts'

/**
 * Batches pieces of an answer: sends the first immediately and those of the next 30 ms together. One message
 * per token would cost too much.
 */
export type Partials = {
  add(kind: PieceKind, text: string): void
  /** Called before a line is appended, so that readers see both in order. */
  flush(): void
  /** The blocks of these kinds are complete: their next piece starts a block. */
  close(kinds: readonly PieceKind[]): void
}

const batchMs = 30

/** `at`: characters of the block before this piece. */
export type SendPiece = (kind: PieceKind, text: string, at: number) => void

export function createPartials(clock: Clock, sendPlaced: SendPiece): Partials {
  const lengths = { text: 0, thinking: 0 }
  let pending: { kind: PieceKind; text: string } | null = null
  let cancel: (() => void) | null = null

  function send(kind: PieceKind, text: string) {
    for (let from = 0; from < text.length; from += maxPieceLength) {
      const piece = text.slice(from, from + maxPieceLength)
      sendPlaced(kind, piece, lengths[kind])
      lengths[kind] += piece.length
    }
  }

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
    close(kinds) {
      for (const kind of kinds) lengths[kind] = 0
    },
  }
}
