/** Messages about a run: claim, start, lines, result and cancellation. */

import type { PieceKind, TranscriptLine } from './transcript.ts'

export type Claim = { t: 'claim'; free: number }
export type ClaimAnswer = { runs: Run[] }

/** On whose behalf a run works. Decides the Unix user and the home of its turns. */
export type Principal = {
  /** Stable and never given to anybody else, for example `user:<id>`, `email:<address>`, `visitor:<session id>`. */
  id: string
  /** What its turns may do with the workspace. Only `owner` runs as the workspace's own user. */
  access: 'owner' | 'write' | 'read' | 'none'
  /** Whether its turns may read files with credentials (`.env`, `.mcp.json`, `credentials/`, keys). Never true for strangers. */
  credentials: boolean
}

/** A run assigned to an agent under a lease. */
export type Run = {
  execution_id: string
  /** Increases with each claim. Messages about the run contain it, and older values are rejected as stale. */
  claim_token: number
  kind: 'chat' | 'task'
  /** For chat: the conversation whose live process runs the turn. Null for a task. */
  session_id: string | null
  message: string
  /** Appended to the runtime's own system prompt; never stored in the workspace. */
  system_prompt: string
  model: string | null
  allowed_tools: string[] | null
  max_turns: number | null
  timeout_seconds: number
  /** The runtime's own session to continue; null starts a new one. */
  resume_session_id: string | null
  attachments: RunAttachment[]
  broker: { url: string; token: string }
  principal: Principal
  /** Key for the platform's MCP server and API, valid for this principal while this run (a chat: a turn of this conversation) is running. */
  key: string
}
/**
 * Images go to the model; the agent writes other files to `/home/developer/uploads/` before the turn, or to the
 * scratch folder of a principal that may not write to the workspace.
 * `data_base64` is null when a claim's files are too large for one message. The agent then reads them with
 * `attachment`.
 */
export type RunAttachment = { name: string; mimetype: string; size: number; data_base64: string | null }

/** Requests a chunk of an attachment of a held run; offset and length count bytes before base64. */
export type AttachmentRead = {
  t: 'attachment'
  execution_id: string
  claim_token: number
  /** Index in `Run.attachments`, from 0. */
  index: number
  offset: number
  length: number
}
export type AttachmentReadAnswer = { data_base64: string; eof: boolean } | { stale: true }

export type Started = { t: 'started'; execution_id: string; claim_token: number; pid: number }
export type StartedAnswer = { ok: true } | { stale: true }

export type Lines = {
  t: 'lines'
  execution_id: string
  claim_token: number
  /** Number of the first line; lines are numbered from 1 without gaps. */
  from: number
  lines: TranscriptLine[]
}
export type LinesAnswer = { acked: number } | { stale: true }

export type RunResult = {
  t: 'result'
  execution_id: string
  claim_token: number
  status: 'success' | 'failed' | 'cancelled'
  response: string | null
  error: string | null
  error_code: RunErrorCode | null
  terminal_reason: TerminalReason | null
  metadata: RunMetadata
  runtime_session_id: string | null
  execution_time_ms: number
  last_line: number
}
export type ResultAnswer = { accepted: true } | { accepted: false; reason: 'stale_claim' | 'already_final' }

export type RunMetadata = {
  cost_usd?: number | null
  duration_ms?: number | null
  num_turns?: number | null
  tool_count?: number
  session_id?: string | null
  input_tokens?: number
  output_tokens?: number
  cache_creation_tokens?: number
  cache_read_tokens?: number
  context_window?: number | null
  context_tokens?: number | null
  model_used?: string | null
  compact_events?: { at: string; before_tokens: number | null; after_tokens: number | null }[]
  /**
   * Set with `failed` when the runtime no longer knew the session and did nothing. The platform then assigns
   * the run again with a new claim token and the stored messages.
   */
  session_lost?: boolean
}
export type RunErrorCode =
  | 'timeout'
  | 'stalled'
  | 'rate_limited'
  | 'auth'
  | 'billing'
  | 'oom'
  | 'max_turns'
  | 'model_unsupported'
  | 'agent_error'
  | 'no_result'
  | 'network'
  | 'cap_reached'
  | 'agent_lost'
  | 'user_cancelled'
export type TerminalReason =
  | 'completed'
  | 'max_duration'
  | 'stall_no_output'
  | 'auth'
  | 'empty_result'
  | 'cancelled'
  | 'crashed'

/**
 * Signal, never stored or answered: a piece of an unfinished answer. The complete block follows as a
 * transcript line, so a reader that missed pieces loses nothing.
 */
export type Partial = {
  t: 'partial'
  execution_id: string
  claim_token: number
  kind: PieceKind
  /** At most `maxPieceLength` characters. */
  text: string
  /** Characters of the block before this piece; absent from agent programs up to 0.1.0. */
  at?: number
}

export type Cancel = { t: 'cancel'; execution_id: string; claim_token: number; grace_seconds: number }
export type CancelAnswer = {
  state: 'parked' | 'stopped' | 'finished' | 'unknown'
  returncode?: number | null
}
