/**
 * The protocol between the platform and the program in an agent's container.
 *
 * The agent opens one WebSocket to `/link` with its key as bearer token. Every message is a JSON object with
 * id and type. It is answered once by `{re, …}` or `{re, error}` within `answerSeconds`. Signals have no `id`
 * and no answer. All names on the wire are snake_case.
 *
 * The container's program imports only types from here, so that it needs no validation library.
 */

import type { RunCheck, RunCheckAnswer } from './check.ts'
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
  ExecClose,
  ExecData,
  ExecDataAnswer,
  ExecOpen,
  ExecOpenAnswer,
  ExecRead,
  ExecReadAnswer,
  ExecResize,
} from './exec.ts'
import type {
  FileDelete,
  FileList,
  FileListAnswer,
  FileMkdir,
  FileMove,
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
  HistoryClose,
  HistoryCommit,
  HistoryDigest,
  HistoryDigestAnswer,
  HistoryPage,
  HistoryPageAnswer,
  HistoryRead,
  HistoryReadAnswer,
  HistoryScan,
  HistoryScanAnswer,
} from './history.ts'
import type {
  RestoreApply,
  RestoreChanges,
  RestoreChangesAnswer,
  RestoreClose,
  RestoreCompare,
  RestoreLook,
  RestoreLookAnswer,
  RestoreNeeds,
  RestoreNeedsAnswer,
  RestoreOpen,
  RestoreOpenAnswer,
  RestoreTargets,
  RestoreWrite,
} from './history-restore.ts'
import type { Queue, QueueAnswer, QueueLook } from './queue.ts'
import type {
  AttachmentRead,
  AttachmentReadAnswer,
  Cancel,
  CancelAnswer,
  Claim,
  ClaimAnswer,
  Lines,
  LinesAnswer,
  ResultAnswer,
  RunResult,
  Started,
  StartedAnswer,
} from './runs.ts'
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
import type { TemplateRead, TemplateReadAnswer } from './template.ts'
import type {
  ExportOpen,
  ExportRead,
  ExportReadAnswer,
  ImportCommit,
  ImportOpen,
  ImportWrite,
  TransferAnswer,
  TransferClose,
} from './transfer.ts'

export const protocolVersion = 1
export const leaseSeconds = 60
export const beatSeconds = 5
export const answerSeconds = 30
/** A larger message closes the link with 1009. */
export const maxMessageBytes = 8 * 1024 * 1024
/** Size limit for the lines of one `lines` message; further lines wait for the answer. */
export const maxLinesBytes = 256 * 1024
/** Size limit of a stored transcript line; longer ones are truncated and marked `_truncated`. */
export const maxLineBytes = 1024 * 1024
/** Chunk of a file read or write, in bytes before base64. */
export const fileChunkBytes = 256 * 1024
export const maxResultBytes = 50 * 1024 * 1024
/** Time limit and output limit of the pre-check hook. */
export const preCheckSeconds = 60
export const preCheckCharacters = 100_000
/** Size and file limits of one skill. */
export const maxSkillBytes = 10 * 1024 * 1024
export const maxSkillFiles = 200

/** Close codes of the link in addition to those of RFC 6455. */
export const closeCodes = { badKey: 4001, badScope: 4003, replaced: 4009 } as const

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
  /** What the program can do beyond the first release; missing in that one. */
  abilities?: string[]
}
/** Ability: runs turns of each principal with a Unix user of their own. */
export const principalsAbility = 'principals'
/** Ability: asks for its template over the link. Earlier programs expect a folder in their container. */
export const templateAbility = 'template'
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
   * Last committed line of each held run; the agent resends later ones. For a finished run that the platform
   * has ended meanwhile it is the last line, because only the result is still accepted.
   */
  acked: Record<string, number>
  /** Runs that no longer belong to the agent: it stops and drops them. */
  drop: string[]
  lease_seconds: number
  /** Where agents reach the platform's processes, as in `addresses.ts`. Missing in the first release. */
  platform_addresses?: string[]
}

export type AgentSettings = {
  /** The current name: a rename keeps container program and volume. */
  agent_name: string
  read_only: { enabled: boolean; blocked_patterns: string[]; allowed_patterns: string[] }
  /** Effective limit for live chat processes and for claimed runs. */
  parallel_limit: number
  model: string | null
  chat_idle_seconds: number
  stall_seconds: number
  /** Shortest time between two measurements of the workspace. */
  disk_seconds: number
  /** Null when programs have direct network access. */
  way_out: AgentWayOut | null
}

export type RuntimeName = 'claude-code' | 'gemini-cli' | 'codex'

/**
 * Sent every `beatSeconds`; renews the leases of the listed runs. The HTTP heartbeat has the same body without
 * `disk_bytes` and `use`.
 */
export type Beat = {
  t: 'beat'
  memory_mb?: number
  active_executions?: number
  uptime_s?: number
  executions?: { execution_id: string; tool?: string; summary?: string; since?: string }[]
  /** Size of the agent's own volumes; only in the first heartbeat after a measurement. */
  disk_bytes?: number
  /** Missing when the program cannot read it, and from programs up to 0.1.0. */
  use?: OwnUse
}
/** What the agent's own program reads about its container. It may lie, so only displays depend on it. */
export type OwnUse = {
  /** Percent of one CPU since the previous heartbeat: 200 means two busy cores. */
  cpu_percent: number
  memory_bytes: number
  /** Since the container's start; null without a network interface. */
  network_rx_bytes: number | null
  network_tx_bytes: number | null
}
/** `platform_addresses`: only after they changed. */
export type BeatAnswer = { ok: true; platform_addresses?: string[] }

export type FromAgent =
  | Hello
  | Claim
  | Started
  | Lines
  | RunResult
  | Beat
  | AttachmentRead
  | Queue
  | TemplateRead

// ── platform → agent ───────────────────────────────────────────────────────────────────────────────

/** Signal: work is waiting to be claimed. */
export type Wake = { t: 'wake' }
export type ApplySettings = { t: 'settings'; settings: AgentSettings }
/** Ends a conversation's live process after the session was reset or closed. */
export type DropSession = { t: 'session.drop'; session_id: string }
export type OkAnswer = { ok: true }
/**
 * Requests the workspace's template metadata (`template.yaml`) as text, its metrics and the runtime version.
 */
export type Info = { t: 'info' }
export type InfoAnswer = {
  template_yaml: string | null
  metrics_json: string | null
  runtime_version: string | null
  workspace_initialized: boolean
  /**
   * When the program of this agent first started, in milliseconds of the clock that stamps its files. Null if it is not
   * known; older programs do not send it.
   */
  first_start_ms?: number | null | undefined
}
/**
 * Runs `~/.roost/pre-check`, if present and executable, without arguments in the home directory. Limited to
 * `preCheckSeconds`; output is cut at `preCheckCharacters`.
 */
export type PreCheck = { t: 'precheck' }
/** `exit_code` is null when nothing ran, when a signal ended the hook, and after a timeout. */
export type PreCheckAnswer = {
  hook_present: boolean
  exit_code: number | null
  stdout: string
  stderr: string
}
/** SSH keys that may log in as developer; replaces the whole set. */
export type SetAuthorizedKeys = { t: 'ssh.keys'; keys: string[] }
/** Public host keys of the SSH server, as type and base64. Absent in agent programs of earlier versions. */
export type SetAuthorizedKeysAnswer = OkAnswer & { host_keys?: string[] | undefined }

/** Error codes in `{re, error: {code, message}}`. */
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
  'fs.move': { request: FileMove; answer: PathAnswer }
  'fs.pack': { request: FilePack; answer: FilePackAnswer }
  'fs.read_pack': { request: FileReadPack; answer: FileReadAnswer }
  'fs.export_open': { request: ExportOpen; answer: TransferAnswer }
  'fs.export_read': { request: ExportRead; answer: ExportReadAnswer }
  'fs.import_open': { request: ImportOpen; answer: TransferAnswer }
  'fs.import_write': { request: ImportWrite; answer: OkAnswer }
  'fs.import_commit': { request: ImportCommit; answer: OkAnswer }
  'fs.transfer_close': { request: TransferClose; answer: OkAnswer }
  settings: { request: ApplySettings; answer: OkAnswer }
  'session.drop': { request: DropSession; answer: OkAnswer }
  info: { request: Info; answer: InfoAnswer }
  precheck: { request: PreCheck; answer: PreCheckAnswer }
  'check.run': { request: RunCheck; answer: RunCheckAnswer }
  'ssh.keys': { request: SetAuthorizedKeys; answer: SetAuthorizedKeysAnswer }
  'credentials.status': { request: CredentialsStatus; answer: CredentialsStatusAnswer }
  'credentials.write': { request: CredentialsWrite; answer: OkAnswer }
  'credentials.commit': { request: CredentialsCommit; answer: CredentialsCommitAnswer }
  'credentials.read': { request: CredentialsRead; answer: CredentialsReadAnswer }
  'credentials.render': { request: CredentialsRender; answer: CredentialsRenderAnswer }
  'queue.look': { request: QueueLook; answer: OkAnswer }
  'exec.open': { request: ExecOpen; answer: ExecOpenAnswer }
  'exec.data': { request: ExecData; answer: ExecDataAnswer }
  'exec.read': { request: ExecRead; answer: ExecReadAnswer }
  'exec.resize': { request: ExecResize; answer: OkAnswer }
  'exec.close': { request: ExecClose; answer: OkAnswer }
  'git.look': { request: GitLook; answer: GitLookAnswer }
  'git.log': { request: GitLog; answer: GitLogAnswer }
  'git.change': { request: GitChange; answer: GitChangeAnswer }
  'git.bind': { request: GitBind; answer: GitEndAnswer }
  'git.sync': { request: GitSync; answer: GitEndAnswer }
  'git.pull': { request: GitPull; answer: GitEndAnswer }
  'git.initialize': { request: GitInitialize; answer: GitEndAnswer }
  'git.reset': { request: GitReset; answer: GitResetAnswer }
  'history.scan': { request: HistoryScan; answer: HistoryScanAnswer }
  'history.page': { request: HistoryPage; answer: HistoryPageAnswer }
  'history.digest': { request: HistoryDigest; answer: HistoryDigestAnswer }
  'history.read': { request: HistoryRead; answer: HistoryReadAnswer }
  'history.commit': { request: HistoryCommit; answer: OkAnswer }
  'history.close': { request: HistoryClose; answer: OkAnswer }
  'history.restore.open': { request: RestoreOpen; answer: RestoreOpenAnswer }
  'history.restore.target': { request: RestoreTargets; answer: OkAnswer }
  'history.restore.compare': { request: RestoreCompare; answer: OkAnswer }
  'history.restore.look': { request: RestoreLook; answer: RestoreLookAnswer }
  'history.restore.changes': { request: RestoreChanges; answer: RestoreChangesAnswer }
  'history.restore.needs': { request: RestoreNeeds; answer: RestoreNeedsAnswer }
  'history.restore.write': { request: RestoreWrite; answer: OkAnswer }
  'history.restore.apply': { request: RestoreApply; answer: OkAnswer }
  'history.restore.close': { request: RestoreClose; answer: OkAnswer }
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
  template: { request: TemplateRead; answer: TemplateReadAnswer }
}

// ── frames ─────────────────────────────────────────────────────────────────────────────────────────

/** Each side numbers its own requests; an answer repeats the id. */
export type FrameId = number | string
/** A request on the wire. Signals (`wake`, `partial`) have no id. */
export type RequestFrame<Message> = Message & { id: FrameId }
/** `re` is null when the request was too broken to contain an id. */
export type AnswerFrame<Answer> = ({ re: FrameId } & Answer) | { re: FrameId | null; error: LinkError }
