/**
 * Transcripts: the numbered lines of runs, the tool calls in them, and notices of new lines.
 *
 * Owns the tables `execution_lines` and `execution_tools`. Lines are stored masked, truncated and with unique numbers.
 * Listeners are notified after the commit. Callers check in `executions` whether the run may still add lines.
 */

export { maskText } from '../../kit/mask-secrets.ts'
export type { PartialText, PlacedPiece } from './open-pieces.ts'
export {
  maxDailyMebibytes,
  maxTranscriptBytes,
  type NumberedLine,
  numberLine,
  sizeOfLines,
  storableText,
} from './rules.ts'
export { createLive, type Live, type LiveListener } from './service.ts'
export { countWithin, type ExecutionToolsTable, type TranscriptStore, transcriptStore } from './store.ts'
export { type ToolStart, toolsIn } from './tool-rules.ts'
