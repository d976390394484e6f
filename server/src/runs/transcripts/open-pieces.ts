import type { TranscriptLine } from '@roost/contracts/link/transcript'

export type PieceKind = 'text' | 'thinking'

/** A piece of the answer that is being written; never stored. */
export type PartialText = { type: 'partial'; kind: PieceKind; text: string }

/** With its place: how many characters of its block come before it. */
export type PlacedPiece = PartialText & { at: number }

/**
 * The blocks that are being written, as far as their pieces have come by here, for who begins to read in the
 * middle of one. Only a block that is known from its beginning is kept.
 */
export type OpenPieces = {
  /** Adds the next piece of its block, of which this process has seen all; tells its place. */
  next(executionId: string, partial: PartialText): PlacedPiece
  /** Adds a piece of which another process tells the place. */
  add(executionId: string, piece: PlacedPiece): void
  /** The blocks of these kinds come as lines now; says whether there were any. */
  close(executionId: string, kinds: readonly PieceKind[]): boolean
  of(executionId: string): PlacedPiece[]
}

export function createOpenPieces(): OpenPieces {
  const runs = new Map<string, Partial<Record<PieceKind, Block>>>()

  function add(executionId: string, { kind, text, at }: PlacedPiece): void {
    const blocks = runs.get(executionId) ?? {}
    const before = at === 0 ? '' : blocks[kind]?.length === at ? blocks[kind].text : null
    const length = at + text.length
    blocks[kind] = { text: before === null || length > longestBlock ? null : before + text, length }
    runs.delete(executionId)
    runs.set(executionId, blocks)
    // The end of a run may go unheard; the runs that were silent for longest are forgotten.
    const [oldest] = runs.keys()
    if (runs.size > mostRuns && oldest !== undefined) runs.delete(oldest)
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

/** A text of null: pieces of it did not come by here, or it is too long to keep. */
type Block = { text: string | null; length: number }

/** In characters. */
const longestBlock = 1024 * 1024
const mostRuns = 1000

export const pieceKinds: readonly PieceKind[] = ['text', 'thinking']

/** Which blocks of the answer itself stand whole in these lines; a subagent's blocks come without pieces. */
export function wholeKinds(lines: readonly TranscriptLine[]): PieceKind[] {
  const blocks = lines.flatMap((line) =>
    line.type === 'assistant' && (line.parent_tool_use_id ?? null) === null ? line.message.content : [],
  )
  return pieceKinds.filter((kind) => blocks.some(({ type }) => type === kind))
}
