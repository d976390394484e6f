import { type PieceKind, pieceKinds } from '@roost/contracts/link/transcript'

/** A piece of an answer that is being written; never stored. */
export type PartialText = { type: 'partial'; kind: PieceKind; text: string }

/** A piece with its offset: the number of characters before it in its block. */
export type PlacedPiece = PartialText & { at: number }

/**
 * The blocks being written: of the runs whose pieces this process receives from the agent, and of those that a reader
 * follows here. For readers who join in the middle; only blocks known from their start are returned.
 */
export type OpenPieces = {
  /**
   * Adds the next piece from the agent; returns it with its offset. `at`, as the agent counts, is used for a block
   * that another process received before.
   */
  next(executionId: string, partial: PartialText, at?: number): PlacedPiece
  /** Adds a piece whose offset another process reported. */
  add(executionId: string, piece: PlacedPiece): void
  /** Removes the blocks of these kinds, because their lines are complete; returns whether there were any. */
  close(executionId: string, kinds: readonly PieceKind[]): boolean
  of(executionId: string): PlacedPiece[]
  /** Whether this process has the latest pieces of the run from the agent. */
  isSource(executionId: string): boolean
  remove(executionId: string): void
}

export function createOpenPieces(): OpenPieces {
  const runs = new Map<string, Blocks>()

  function add(executionId: string, { kind, text, at }: PlacedPiece, isSource = false): void {
    const blocks = runs.get(executionId)
    const before = at === 0 ? '' : blocks?.[kind]?.length === at ? blocks[kind].text : null
    const length = at + text.length
    const block = { text: before === null || length > maxBlockLength ? null : before + text, length }
    runs.delete(executionId)
    runs.set(executionId, { ...blocks, [kind]: block, isSource })
    // The end of a run may be missed, so the least recently updated run is dropped.
    const [oldest] = runs.keys()
    if (runs.size > maxRuns && oldest !== undefined) runs.delete(oldest)
  }

  return {
    add: (executionId, piece) => add(executionId, piece),
    next(executionId, partial, at) {
      const blocks = runs.get(executionId)
      const length = blocks?.[partial.kind]?.length
      // Masking changes lengths, so the agent's count is used only where this process has none of its own.
      const piece = { ...partial, at: (blocks?.isSource ? (length ?? at) : (at ?? length)) ?? 0 }
      add(executionId, piece, true)
      return piece
    },
    close(executionId, kinds) {
      const blocks = runs.get(executionId)
      if (!blocks) return false
      const open = kinds.filter((kind) => blocks[kind])
      for (const kind of open) delete blocks[kind]
      if (pieceKinds.every((kind) => !blocks[kind])) runs.delete(executionId)
      return open.length > 0
    },
    of(executionId) {
      const blocks = runs.get(executionId)
      return pieceKinds.flatMap((kind) => {
        const text = blocks?.[kind]?.text ?? ''
        return text === '' ? [] : [{ type: 'partial' as const, kind, text, at: 0 }]
      })
    },
    isSource: (executionId) => runs.get(executionId)?.isSource ?? false,
    remove: (executionId) => void runs.delete(executionId),
  }
}

type Blocks = Partial<Record<PieceKind, Block>> & { isSource: boolean }

/** `text` is null when pieces are missing or the block is too long to keep. */
type Block = { text: string | null; length: number }

/** In characters. */
const maxBlockLength = 1024 * 1024
const maxRuns = 1000
