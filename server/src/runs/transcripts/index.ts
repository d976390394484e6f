/**
 * Transcripts: the numbered lines of runs, the tools in them, and the notice that there are new ones.
 *
 * Owns the tables `execution_lines` and `execution_tools`. Promises that a line is stored masked, cut and
 * under one number, and that whoever listens is told after the commit. Refuses to know whose run it is and
 * whether it still counts: that is asked of `executions` in the same transaction.
 */

export { maskText } from '../../kit/mask-secrets.ts'
export { createLive, type Live, type LiveListener } from './live.ts'
export { type PartialText, type PlacedPiece, pieceKinds, wholeKinds } from './open-pieces.ts'
export { type KeptLine, keepLine, storableText } from './rules.ts'
export { type TranscriptStore, transcriptStore } from './store.ts'
export type { ExecutionToolsTable } from './tables.ts'
export { type ToolStart, toolsIn } from './tool-rules.ts'
