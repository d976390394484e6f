/**
 * The protocol between the platform and the program inside an agent's container.
 *
 * One outbound WebSocket to `/link` with the agent's key as bearer. Every message is a JSON object with
 * an id and a type, answered once by `{re, …}` or `{re, error}` within `answerSeconds`. Signals (no
 * `id`) are not answered. Whatever crosses the wire is snake_case.
 *
 * The container's program imports types only from here, so that it carries no validation library.
 */

import type {
  CredentialsCommit,
  CredentialsCommitAnswer,
  CredentialsRead,
  CredentialsReadAnswer,
  CredentialsRender,
  CredentialsRenderAnswer,
  CredentialsStatus,
  CredentialsStatusAnswer,
  CredentialsWrite,
} from './credentials.ts'
import type { AgentWayOut } from './egress.ts'
import type {
  FileDelete,
  FileList,
  FileListAnswer,
  FileMkdir,
  FilePack,
  FilePackAnswer,
  FileRead,
  FileReadAnswer,
  FileReadPack,
  FileStat,
  FileStatAnswer,
  FileWrite,
  FileWriteAnswer,
  PathAnswer,
} from './files.ts'
import type {
  GitBind,
  GitChange,
  GitChangeAnswer,
  GitEndAnswer,
  GitInitialize,
  GitLog,
  GitLogAnswer,
  GitLook,
  GitLookAnswer,
  GitPull,
  GitReset,
  GitResetAnswer,
  GitSync,
} from './git.ts'
import type {
  SkillInstall,
  SkillInstallAnswer,
  SkillsList,
  SkillsListAnswer,
  SkillsRemove,
  SkillsRemoveAnswer,
  SkillsSettle,
  SkillsSettleAnswer,
} from './skills.ts'
import type { TranscriptLine } from './transcript.ts'

export const protocolVersion = 1
export const leaseSeconds = 60
export const beatSeconds = 5
export const answerSeconds = 30
/** A message above this closes the link with 1009. */
export const maxMessageBytes = 8 * 1024 * 1024
/** Lines of one `lines` message together; more wait for the answer. */
export const maxLinesBytes = 256 * 1024
/** One transcript line as stored; above it is cut and marked `_truncated`. */
export const maxLineBytes = 1024 * 1024
/** Chunk of a file read or write, in bytes before base64. */
export const fileChunkBytes = 256 * 1024
/** The file of requests to the operator; above it is not read. */
export const maxQueueBytes = 1024 * 1024
/** Entries of that file that are looked at: the last ones. */
export const maxQueueEntries = 1000
export const maxResultBytes = 50 * 1024 * 1024
/** What the hook that is asked before a scheduled run may take and say. */
export const preCheckSeconds = 60
export const preCheckCharacters = 100_000
/** Of one skill, and its files. */
export const maxSkillBytes = 10 * 1024 * 1024
export const maxSkillFiles = 200

/** Close codes of the link besides those of RFC 6455. */
export const closeCodes = { badScope: 4003, replaced: 4009 } as const

// ── agent → platform ───────────────────────────────────────────────────────────────────────────────

export type Hello = {
  t: 'hello'
  protocol: number
  agent_name: string
  image_version: string | null
  runtime: RuntimeName
  runtime_version: string | null
  started_at: string
  /** Every run whose result the platform has not accepted yet. */
  held: HeldRun[]
}
export type HeldRun = {
  execution_id: string
  claim_token: number
  state: 'accepted' | 'spawned' | 'finished'
  /** Number of the last line in the spool; 0 for none. */
  last_line: number
}
export type HelloAnswer = {
  settings: AgentSettings
  /**
   * Last committed line of each held run; the agent resends what follows. Of a finished run that has ended for
   * the platform meanwhile it is the last there is: only the result is still heard.
   */
  acked: Record<string, number>
  /** Runs that are no longer the agent's: stop them and forget them. */
  drop: string[]
  lease_seconds: number
}

export type AgentSettings = {
  /** The name now: a rename keeps container program and volume. */
  agent_name: string
  read_only: { enabled: boolean; blocked_patterns: string[]; allowed_patterns: string[] }
  /** Effective limit: how many live chat processes may be kept, and how many runs are claimed at most. */
  parallel_limit: number
  model: string | null
  chat_idle_seconds: number
  stall_seconds: number
  /** Null: programs go out by themselves. */
  way_out: AgentWayOut | null
}

export type Claim = { t: 'claim'; free: number }
export type ClaimAnswer = { runs: Run[] }

export type RuntimeName = 'claude-code' | 'gemini-cli' | 'codex'

/** One run as handed to the agent under a lease. */
export type Run = {
  execution_id: string
  /** Grows with each claim; messages about the run carry it, and an old one is refused as stale. */
  claim_token: number
  kind: 'chat' | 'task'
  /** Chat: the conversation whose live process takes the turn. Null for a task. */
  session_id: string | null
  message: string
  /** Appended to the runtime's own system prompt; passed outside the workspace. */
  system_prompt: string
  model: string | null
  allowed_tools: string[] | null
  max_turns: number | null
  timeout_seconds: number
  /** The runtime's own session to continue; null starts a new one. */
  resume_session_id: string | null
  attachments: RunAttachment[]
  broker: { url: string; token: string }
}
/**
 * Images go to the model as vision content; the agent writes every other file to `/home/developer/uploads/`
 * before the turn starts. `data_base64` is null when the files of a claim are together too large for one
 * message: the agent then reads the bytes with `attachment`.
 */
export type RunAttachment = { name: string; mimetype: string; size: number; data_base64: string | null }

/** A piece of an attachment of a run that the agent holds; offset and length count bytes before base64. */
export type AttachmentRead = {
  t: 'attachment'
  execution_id: string
  claim_token: number
  /** Place in `Run.attachments`, from 0. */
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
   * With `failed`: the runtime no longer knew the session it was asked to resume and did nothing. The
   * platform then hands the run out once more, under a new claim token, with the stored messages instead.
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

/** Every `beatSeconds`; renews the leases of the runs it names. Same body as the HTTP heartbeat. */
export type Beat = {
  t: 'beat'
  memory_mb?: number
  active_executions?: number
  uptime_s?: number
  executions?: { execution_id: string; tool?: string; summary?: string; since?: string }[]
}
export type BeatAnswer = { ok: true }

/**
 * Signal, never stored or answered: a piece of the answer that is being written. The whole block follows
 * as a transcript line; a reader that missed pieces loses nothing.
 */
export type Partial = {
  t: 'partial'
  execution_id: string
  claim_token: number
  kind: 'text' | 'thinking'
  text: string
}

/**
 * What `~/.roost/operator-queue.json` says, whenever it has changed and after each hello. Both null: the file is
 * not there; `fault` says why one that is there cannot be read.
 */
export type Queue = { t: 'queue'; requests: unknown[] | null; fault: string | null }
/** What the file is to say instead, by the ids of its entries. */
export type QueueAnswer = { updates: QueueUpdate[] }
export type QueueUpdate = {
  id: string
  status: 'responded' | 'acknowledged' | 'cancelled' | 'expired'
  response: string | null
  response_text: string | null
  responded_by: string | null
  responded_at: string | null
}

export type FromAgent = Hello | Claim | Started | Lines | RunResult | Beat | AttachmentRead | Queue

// ── platform → agent ───────────────────────────────────────────────────────────────────────────────

/** Signal: work is waiting, claim. */
export type Wake = { t: 'wake' }
export type Cancel = { t: 'cancel'; execution_id: string; claim_token: number; grace_seconds: number }
export type CancelAnswer = {
  state: 'parked' | 'stopped' | 'finished' | 'unknown'
  returncode?: number | null
}

export type ApplySettings = { t: 'settings'; settings: AgentSettings }
/** Drops a conversation's live process (session reset, closed). */
export type DropSession = { t: 'session.drop'; session_id: string }
export type OkAnswer = { ok: true }
/** Template metadata of the workspace (`template.yaml`) as parsed text, and the context in use. */
export type Info = { t: 'info' }
export type InfoAnswer = {
  template_yaml: string | null
  metrics_json: string | null
  runtime_version: string | null
  workspace_initialized: boolean
}
/**
 * Runs `~/.roost/pre-check`, if it is there and executable, without arguments in the home directory. It may take
 * `preCheckSeconds`; output is cut at `preCheckCharacters`.
 */
export type PreCheck = { t: 'precheck' }
/** `exit_code` is null when nothing was run, when it was ended by a signal, and when it took too long. */
export type PreCheckAnswer = {
  hook_present: boolean
  exit_code: number | null
  stdout: string
  stderr: string
}
/** SSH keys that may log in as developer; replaces the whole set. */
export type SetAuthorizedKeys = { t: 'ssh.keys'; keys: string[] }

/** Something was answered: tell the file's state, and take what it is to say. */
export type QueueLook = { t: 'queue.look' }

/** Faults of file operations, `{re, error: {code, message}}`. */
export type LinkErrorCode =
  | 'file_not_found'
  | 'protected_path'
  | 'not_a_file'
  | 'not_a_directory'
  | 'file_too_large'
  | 'io_error'
  | 'unknown_message'
  | 'invalid_message'
export type LinkError = { code: LinkErrorCode; message: string }

/** Each request of the platform with its answer. */
export type PlatformCalls = {
  cancel: { request: Cancel; answer: CancelAnswer }
  'fs.list': { request: FileList; answer: FileListAnswer }
  'fs.stat': { request: FileStat; answer: FileStatAnswer }
  'fs.read': { request: FileRead; answer: FileReadAnswer }
  'fs.write': { request: FileWrite; answer: FileWriteAnswer }
  'fs.delete': { request: FileDelete; answer: PathAnswer }
  'fs.mkdir': { request: FileMkdir; answer: PathAnswer }
  'fs.pack': { request: FilePack; answer: FilePackAnswer }
  'fs.read_pack': { request: FileReadPack; answer: FileReadAnswer }
  settings: { request: ApplySettings; answer: OkAnswer }
  'session.drop': { request: DropSession; answer: OkAnswer }
  info: { request: Info; answer: InfoAnswer }
  precheck: { request: PreCheck; answer: PreCheckAnswer }
  'ssh.keys': { request: SetAuthorizedKeys; answer: OkAnswer }
  'credentials.status': { request: CredentialsStatus; answer: CredentialsStatusAnswer }
  'credentials.write': { request: CredentialsWrite; answer: OkAnswer }
  'credentials.commit': { request: CredentialsCommit; answer: CredentialsCommitAnswer }
  'credentials.read': { request: CredentialsRead; answer: CredentialsReadAnswer }
  'credentials.render': { request: CredentialsRender; answer: CredentialsRenderAnswer }
  'queue.look': { request: QueueLook; answer: OkAnswer }
  'git.look': { request: GitLook; answer: GitLookAnswer }
  'git.log': { request: GitLog; answer: GitLogAnswer }
  'git.change': { request: GitChange; answer: GitChangeAnswer }
  'git.bind': { request: GitBind; answer: GitEndAnswer }
  'git.sync': { request: GitSync; answer: GitEndAnswer }
  'git.pull': { request: GitPull; answer: GitEndAnswer }
  'git.initialize': { request: GitInitialize; answer: GitEndAnswer }
  'git.reset': { request: GitReset; answer: GitResetAnswer }
  'skills.list': { request: SkillsList; answer: SkillsListAnswer }
  'skills.install': { request: SkillInstall; answer: SkillInstallAnswer }
  'skills.remove': { request: SkillsRemove; answer: SkillsRemoveAnswer }
  'skills.settle': { request: SkillsSettle; answer: SkillsSettleAnswer }
}
export type PlatformCall = PlatformCalls[keyof PlatformCalls]['request']

/** Each request of the agent with its answer. */
export type AgentCalls = {
  hello: { request: Hello; answer: HelloAnswer }
  claim: { request: Claim; answer: ClaimAnswer }
  started: { request: Started; answer: StartedAnswer }
  lines: { request: Lines; answer: LinesAnswer }
  result: { request: RunResult; answer: ResultAnswer }
  beat: { request: Beat; answer: BeatAnswer }
  attachment: { request: AttachmentRead; answer: AttachmentReadAnswer }
  queue: { request: Queue; answer: QueueAnswer }
}

// ── frames ─────────────────────────────────────────────────────────────────────────────────────────

/** Each side numbers its own requests; an answer repeats the id as it came. */
export type FrameId = number | string
/** A request as it crosses the wire. Signals (`wake`, `partial`) have no id. */
export type RequestFrame<Message> = Message & { id: FrameId }
/** `re` is null when what came could not be read far enough to find an id. */
export type AnswerFrame<Answer> = ({ re: FrameId } & Answer) | { re: FrameId | null; error: LinkError }
