/**
 * Validates everything that an agent's program sends. The platform trusts a container only with its own runs,
 * so every field is checked before use. Separate from `messages.ts`, which the container's program imports
 * without a validation library.
 */
import { z } from 'zod'
import { maxCheckOutput } from './check.ts'
import { terminalChunkBytes } from './exec.ts'
import type { FileNode } from './files.ts'
import { GitChangeReply, GitEndReply, GitLogReply, GitLookReply, GitResetReply } from './git-schemas.ts'
import {
  maxNamedConflicts,
  restoreChangeKinds,
  restoreConflictReasons,
  restorePageEntries,
  restoreStates,
} from './history-restore.ts'
import { historyAnswerSchemas } from './history-schemas.ts'
import {
  type AgentCalls,
  fileChunkBytes,
  type LinkErrorCode,
  type PlatformCalls,
  preCheckCharacters,
} from './messages.ts'
import { maxQueueEntries } from './queue.ts'
import { ClaimToken, resultFields } from './result.ts'
import type { Partial } from './runs.ts'
import { maxPieceLength, pieceKinds, type TranscriptLine } from './transcript.ts'

const Id = z.string().min(1).max(100)
const Count = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const Text = z.string()

export const FrameId = z.union([z.number().int(), z.string().min(1).max(64)])

/** A line needs a type; unknown fields are kept, so that shapes can grow. */
const Line = z.looseObject({ type: z.string().min(1).max(64) }) as unknown as z.ZodType<TranscriptLine>

/** Body of a heartbeat, over the link and over HTTP. */
export const beatFields = {
  memory_mb: z.number().min(0).max(100_000_000).optional(),
  active_executions: Count.max(1000).optional(),
  uptime_s: z.number().min(0).max(10_000_000_000).optional(),
  executions: z
    .array(
      z.object({
        execution_id: Id,
        tool: z.string().max(200).optional(),
        summary: z.string().max(500).optional(),
        since: z.string().max(40).optional(),
      }),
    )
    // HTTP allows at most 20; over the link an agent lists every unfinished run.
    .max(10_000)
    .optional(),
}

const Use = z.object({
  cpu_percent: z.number().min(0).max(1_000_000),
  memory_bytes: Count,
  network_rx_bytes: Count.nullable(),
  network_tx_bytes: Count.nullable(),
})

type AgentSchemas = { [T in keyof AgentCalls]: z.ZodType<AgentCalls[T]['request']> }

export const agentCallSchemas: AgentSchemas = {
  hello: z.object({
    t: z.literal('hello'),
    protocol: z.number().int(),
    agent_name: z.string().max(100),
    image_version: z.string().max(200).nullable(),
    runtime: z.enum(['claude-code', 'gemini-cli', 'codex']),
    runtime_version: z.string().max(200).nullable(),
    started_at: z.string().max(40),
    held: z
      .array(
        z.object({
          execution_id: Id,
          claim_token: ClaimToken,
          state: z.enum(['accepted', 'spawned', 'finished']),
          last_line: Count,
        }),
      )
      .max(10_000),
    abilities: z.array(z.string().max(40)).max(50).optional(),
  }),
  claim: z.object({ t: z.literal('claim'), free: z.number().int().min(0).max(1000) }),
  started: z.object({ t: z.literal('started'), execution_id: Id, claim_token: ClaimToken, pid: Count }),
  lines: z.object({
    t: z.literal('lines'),
    execution_id: Id,
    claim_token: ClaimToken,
    from: z.number().int().min(1).max(2_000_000_000),
    lines: z.array(Line).max(20_000),
  }),
  result: z.object({ t: z.literal('result'), execution_id: Id, ...resultFields, last_line: Count }),
  beat: z.object({
    t: z.literal('beat'),
    ...beatFields,
    disk_bytes: Count.optional(),
    use: Use.optional(),
  }),
  attachment: z.object({
    t: z.literal('attachment'),
    execution_id: Id,
    claim_token: ClaimToken,
    index: Count.max(100),
    offset: Count,
    length: z
      .number()
      .int()
      .min(1)
      .max(4 * 1024 * 1024),
  }),
  queue: z.object({
    t: z.literal('queue'),
    requests: z.array(z.unknown()).max(maxQueueEntries).nullable(),
    fault: z.string().max(1000).nullable(),
  }),
  template: z.object({ t: z.literal('template'), version: Id.nullable(), offset: Count }),
}

export const PartialSignal: z.ZodType<Partial> = z.object({
  t: z.literal('partial'),
  execution_id: Id,
  claim_token: ClaimToken,
  kind: z.enum(pieceKinds),
  text: z.string().max(maxPieceLength),
  at: Count.optional(),
})

const Node: z.ZodType<FileNode> = z.lazy(() =>
  z.object({
    name: z.string(),
    path: z.string(),
    type: z.enum(['file', 'directory']),
    size: z.number().optional(),
    modified: z.string().optional(),
    children: z.array(Node).optional(),
    file_count: z.number().optional(),
  }),
)
const FileBytes = z.object({ data_base64: z.string(), size: z.number(), eof: z.boolean() })
const PathAnswer = z.object({ path: z.string() })
const Ok = z.object({ ok: z.literal(true) })
const LeftOut = z
  .array(
    z.object({
      server: z.string().max(300),
      names: z.array(z.string().max(300)),
      reason: z.string().max(500),
    }),
  )
  .max(1000)
const Handle = z.object({ handle: Id })
const SmallText = z.string().max(300_000).nullable()

/** Type and base64; no comment, so that a line of `known_hosts` has no other content. */
const SshHostKey = z
  .string()
  .max(4096)
  .regex(/^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d{3}) [A-Za-z0-9+/]+={0,2}$/)

/** As long as Linux allows; bytes as characters. */
const HistoryPath = z.string().max(4096)

type AnswerSchemas = { [T in keyof PlatformCalls]: z.ZodType<PlatformCalls[T]['answer']> }

/** Answers to the platform's own requests. */
export const platformAnswerSchemas: AnswerSchemas = {
  cancel: z.object({
    state: z.enum(['parked', 'stopped', 'finished', 'unknown']),
    returncode: z.number().int().nullish(),
  }),
  'fs.list': z.object({ tree: z.array(Node), total_files: z.number(), truncated: z.boolean() }),
  'fs.stat': z.object({
    type: z.enum(['file', 'directory']),
    size: z.number(),
    modified: z.string(),
    mode: z.number(),
  }),
  'fs.read': FileBytes,
  'fs.write': z.object({ path: z.string(), size: z.number() }),
  'fs.delete': PathAnswer,
  'fs.mkdir': PathAnswer,
  'fs.move': PathAnswer,
  'fs.pack': z.object({ handle: z.string(), size: z.number() }),
  'fs.read_pack': FileBytes,
  'fs.export_open': Handle,
  'fs.export_read': z.object({
    // Base64 needs four characters for three bytes.
    data_base64: z.string().max(Math.ceil(fileChunkBytes / 3) * 4),
    eof: z.boolean(),
    unreadable: Count,
  }),
  'fs.import_open': Handle,
  'fs.import_write': Ok,
  'fs.import_commit': Ok,
  'fs.transfer_close': Ok,
  settings: Ok,
  'session.drop': Ok,
  info: z.object({
    template_yaml: z.string().nullable(),
    metrics_json: z.string().nullable(),
    runtime_version: z.string().nullable(),
    workspace_initialized: z.boolean(),
    first_start_ms: Count.nullable().optional(),
  }),
  precheck: z.object({
    hook_present: z.boolean(),
    exit_code: z.number().int().nullable(),
    stdout: Text.max(preCheckCharacters),
    stderr: Text.max(10_000),
  }),
  'check.run': z.object({
    state: z.enum(['running', 'ended']),
    exit_code: z.number().int().min(0).max(255).nullable(),
    timed_out: z.boolean(),
    output: Text.max(maxCheckOutput),
    truncated: z.boolean(),
    duration_ms: Count,
  }),
  'ssh.keys': Ok.extend({ host_keys: z.array(SshHostKey).max(10).optional() }),
  'credentials.status': z.object({
    files: z
      .array(z.object({ path: z.string().max(300), size: Count, modified: z.string().max(40) }))
      .max(1000),
    variables: z.array(z.string().max(300)).max(10_000),
    left_out: LeftOut,
    mcp_template: SmallText,
    env_example: SmallText,
  }),
  'credentials.write': Ok,
  'credentials.commit': z.object({ written: z.array(z.string().max(300)).max(1000), left_out: LeftOut }),
  'credentials.read': FileBytes,
  'credentials.render': z.object({ left_out: LeftOut }),
  'queue.look': Ok,
  'exec.open': z.object({ outcome: z.enum(['opened', 'too_many', 'unavailable']) }),
  'exec.data': z.object({ taken: Count }),
  'exec.read': z.object({
    // Base64 needs four characters for three bytes.
    data_base64: z.string().max(Math.ceil(terminalChunkBytes / 3) * 4),
    ended: z.object({ exit_code: z.number().int().min(0).max(1000) }).nullable(),
  }),
  'exec.resize': Ok,
  'exec.close': Ok,
  'git.look': GitLookReply,
  'git.log': GitLogReply,
  'git.change': GitChangeReply,
  'git.bind': GitEndReply,
  'git.sync': GitEndReply,
  'git.pull': GitEndReply,
  'git.initialize': GitEndReply,
  'git.reset': GitResetReply,
  ...historyAnswerSchemas,
  'history.restore.open': z.object({ base: Id.nullable() }),
  'history.restore.target': Ok,
  'history.restore.compare': Ok,
  'history.restore.look': z.object({
    state: z.enum(restoreStates),
    fault: z.string().max(500).nullable(),
    added: Count,
    changed: Count,
    attributes: Count,
    deleted: Count,
    conflicts: z
      .array(z.object({ path: HistoryPath, reason: z.enum(restoreConflictReasons) }))
      .max(maxNamedConflicts),
    conflict_count: Count,
  }),
  'history.restore.changes': z.object({
    changes: z
      .array(
        z.object({
          path: HistoryPath,
          kind: z.enum(['file', 'folder', 'link']),
          change: z.enum(restoreChangeKinds),
        }),
      )
      .max(restorePageEntries),
    total: Count,
  }),
  'history.restore.needs': z.object({
    needs: z
      .array(z.object({ content: z.string().regex(/^[0-9a-f]{64}$/), path: HistoryPath }))
      .max(restorePageEntries),
    total: Count,
  }),
  'history.restore.write': Ok,
  'history.restore.apply': Ok,
  'history.restore.close': Ok,
  'skills.list': z.object({
    skills: z
      .array(
        z.object({ name: z.string().max(255), managed: z.boolean(), version: z.string().max(64).nullable() }),
      )
      .max(10_000),
  }),
  'skills.install': z.object({ outcome: z.enum(['injected', 'conflict']).nullable() }),
  'skills.remove': z.object({
    results: z
      .array(
        z.object({
          name: z.string().max(255),
          outcome: z.enum(['removed', 'absent', 'foreign', 'failed']),
        }),
      )
      .max(1000),
  }),
  'skills.settle': z.object({
    warnings: z
      .array(z.object({ name: z.string().max(255), warnings: z.array(z.string().max(200)).max(300) }))
      .max(1000),
  }),
}

const linkErrorCodes = [
  'file_not_found',
  'protected_path',
  'not_a_file',
  'not_a_directory',
  'file_too_large',
  'io_error',
  'unknown_message',
  'invalid_message',
] as const satisfies readonly LinkErrorCode[]

/** Newer container programs may send new codes; unknown ones become `io_error`. */
export const LinkErrorSchema = z.object({
  code: z
    .string()
    .transform((code): LinkErrorCode => linkErrorCodes.find((known) => known === code) ?? 'io_error'),
  message: z.string().max(10_000),
})
