/**
 * The transcript: an ordered list in the shapes of a coding CLI's line protocol. Every runtime is normalized
 * to these shapes. Readers ignore unknown types and fields.
 */
export type TranscriptLine = SystemLine | AssistantLine | UserLine | ResultLine | ErrorLine

/** Stored lines have their number, from 1, and their time. */
export type StoredLine = TranscriptLine & { _n: number; _ts: string; _truncated?: true; _length?: number }

export type SystemLine =
  | { type: 'system'; subtype: 'accepted'; execution_id: string; status: string; session_id?: string }
  | { type: 'system'; subtype: 'init'; session_id: string; model: string; tools: string[] }
  | { type: 'system'; subtype: 'notice'; level: 'info' | 'warning' | 'error'; message: string }
  | { type: 'system'; subtype: 'compact'; before_tokens: number | null; after_tokens: number | null }

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }

export type AssistantLine = {
  type: 'assistant'
  message: { role: 'assistant'; model?: string; content: ContentBlock[]; usage?: TokenUsage }
  /** The tool call of the subagent that this line belongs to; absent in the turn's own answer. */
  parent_tool_use_id?: string
}
export type ToolResult = { type: 'tool_result'; tool_use_id: string; content: string; is_error?: boolean }
export type UserLine = {
  type: 'user'
  message: { role: 'user'; content: ToolResult[] }
  parent_tool_use_id?: string
}

export type ResultLine = {
  type: 'result'
  subtype: 'success' | 'error'
  is_error: boolean
  result: string | null
  total_cost_usd?: number
  duration_ms: number
  num_turns: number
  usage: TokenUsage
  session_id: string | null
}
export type ErrorLine = { type: 'error'; error: string; message: string; retryable: boolean }

export type TokenUsage = {
  input_tokens: number
  output_tokens: number
  cache_creation_input_tokens?: number
  cache_read_input_tokens?: number
}

/** The kinds of blocks whose pieces are sent while they are written. */
export type PieceKind = (typeof pieceKinds)[number]
export const pieceKinds = ['text', 'thinking'] as const
/** In characters. */
export const maxPieceLength = 32 * 1024

/** Kinds of blocks that are complete in these lines. Blocks of subagents have no pieces and do not count. */
export function wholeKinds(lines: readonly TranscriptLine[]): PieceKind[] {
  const blocks = lines.flatMap((line) =>
    line.type === 'assistant' && (line.parent_tool_use_id ?? null) === null ? line.message.content : [],
  )
  return pieceKinds.filter((kind) => blocks.some(({ type }) => type === kind))
}
