import type { TranscriptLine } from '@roost/contracts/link/transcript'

export type PieceKind = 'text' | 'thinking'

/** A piece of an answer that is being written; never stored. */
export type PartialText = { type: 'partial'; kind: PieceKind; text: string }

/** A piece with its offset: the number of characters before it in its block. */
export type PlacedPiece = PartialText & { at: number }

/**
 * The blocks being written, as far as this process has received their pieces; for readers who join in the
 * middle. Only blocks known from their start are kept.
 */
export type OpenPieces = {
  /** Adds the next piece of a block that this process has received in full; returns it with its offset. */
  next(executionId: string, partial: PartialText): PlacedPiece
  /** Adds a piece whose offset another process reported. */
  add(executionId: string, piece: PlacedPiece): void
  /** Removes the blocks of these kinds, because their lines are complete; returns whether there were any. */
  close(executionId: string, kinds: readonly PieceKind[]): boolean
  of(executionId: string): PlacedPiece[]
}

export function createOpenPieces(): OpenPieces {
  const runs = new Map<string, Partial<Record<PieceKind, Block>>>()

  function add(executionId: string, { kind, text, at }: PlacedPiece): void {
    const blocks = runs.get(executionId) ?? {}
    const before = at === 0 ? '' : blocks[kind]?.length === at ? blocks[kind].text : null
    const length = at + text.length
    blocks[kind] = { text: before === null || length > maxBlockLength ? null : before + text, length }
    runs.delete(executionId)
    runs.set(executionId, blocks)
    // The end of a run may be missed, so the least recently updated run is dropped.
    const [oldest] = runs.keys()
    if (runs.size > maxRuns && oldest !== undefined) runs.delete(oldest)
  }

  return {
    add,
    next(executionId, partial) {
      const piece = { ...partial, at: runs.get(executionId)?.[partial.kind]?.length ?? 0 }
      add(executionId, piece)
      return piece
    },
    close(executionId, kinds) {
      const blocks = runs.get(executionId)
      if (!blocks) return false
      const open = kinds.filter((kind) => blocks[kind])
      for (const kind of open) delete blocks[kind]
      if (Object.keys(blocks).length === 0) runs.delete(executionId)
      return open.length > 0
    },
    of(executionId) {
      const blocks = runs.get(executionId) ?? {}
      return pieceKinds.flatMap((kind) => {
        const text = blocks[kind]?.text ?? ''
        return text === '' ? [] : [{ type: 'partial' as const, kind, text, at: 0 }]
      })
    },
  }
}

/** `text` is null when pieces are missing or the block is too long to keep. */
type Block = { text: string | null; length: number }

/** In characters. */
const maxBlockLength = 1024 * 1024
const maxRuns = 1000

export const pieceKinds: readonly PieceKind[] = ['text', 'thinking']

/** Kinds of blocks that are complete in these lines. Blocks of subagents have no pieces and do not count. */
export function wholeKinds(lines: readonly TranscriptLine[]): PieceKind[] {
  const blocks = lines.flatMap((line) =>
    line.type === 'assistant' && (line.parent_tool_use_id ?? null) === null ? line.message.content : [],
  )
  return pieceKinds.filter((kind) => blocks.some(({ type }) => type === kind))
}
