import { z } from 'zod'
import { AgentRow, Cpu, Instructions, Memory, runtimes, strangersAccesses, Tags } from '../agents/agent.ts'
import { DiskQuota } from '../agents/disk.ts'
import { AllowEgress, EgressMode, mostEgressCredentials, mostEgressRules } from '../agents/egress.ts'
import { Label } from '../agents/registry.ts'
import { maxTimeoutSeconds, minTimeoutSeconds, ReadOnlyConfig } from '../agents/settings.ts'
import { endpoint } from '../kit/endpoint.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentName, AgentParams, queryBoolean } from '../kit/primitives.ts'
import { maxAssigned } from '../skills/assignments.ts'
import { CreateEventSubscription } from '../triggers/events.ts'
import { CreateSchedule } from '../triggers/schedules.ts'

const tag = 'Agents'

export const archiveVersion = 1
/** Members of the archive in their order; the files of the workspace are between the last two. */
export const archiveMembers = { manifest: 'manifest.json', avatar: 'avatar', end: 'end.json' } as const
export const maxManifestBytes = 4 * 1024 * 1024
const maxListed = 1000

/** Who receives the output belongs to the installation, so it is not in the archive. */
const { deliver_to_workspace_email: _, ...scheduleFields } = CreateSchedule.shape
const ArchivedSchedule = z.strictObject({
  ...scheduleFields,
  /** It had a webhook, whose address and secret are not in the archive. */
  has_webhook: z.boolean(),
})
const ArchivedSubscription = z.strictObject({
  event_type: CreateEventSubscription.shape.event_type,
  target_message: CreateEventSubscription.shape.target_message,
  /** `self`: the agent's own events; `any`: all agents that it may call; else another agent's name. */
  source: z.union([
    z.strictObject({ kind: z.enum(['self', 'any']) }),
    z.strictObject({ kind: z.literal('agent'), name: z.string().max(200) }),
  ]),
})

/** The settings of an agent that make sense in another installation. */
export const ArchivedAgent = z.strictObject({
  name: AgentName,
  type: z
    .string()
    .min(1)
    .max(100)
    .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters'),
  label: Label,
  tags: Tags,
  runtime: z.enum(runtimes),
  model: ModelOverride.unwrap(),
  cpu: Cpu,
  memory: Memory,
  disk_quota_bytes: DiskQuota.nullable(),
  custom_instructions: Instructions.nullable(),
  autonomy_enabled: z.boolean(),
  read_only: z.strictObject({ enabled: z.boolean(), config: ReadOnlyConfig.strict().nullable() }),
  execution_timeout_seconds: z.number().int().min(minTimeoutSeconds).max(maxTimeoutSeconds),
  max_parallel_tasks: z.number().int().min(1).max(1000),
  full_capabilities: z.boolean(),
  mcp_exposed: z.boolean(),
  operator_resume: z.boolean(),
  circuit_breaker_enabled: z.boolean(),
  expose_folder: z.boolean(),
  consume_folders: z.boolean(),
  strangers: z.enum(strangersAccesses),
  egress: z.strictObject({
    mode: EgressMode,
    allowed: z.array(AllowEgress.strict()).max(mostEgressRules),
    /** Bound credentials, without their values. */
    credentials: z.array(z.string().max(200)).max(mostEgressCredentials),
  }),
})
export type ArchivedAgent = z.output<typeof ArchivedAgent>

export const Manifest = z.strictObject({
  format: z.literal('roost-agent'),
  version: z.literal(archiveVersion),
  roost_version: z.string().max(100),
  created_at: z.iso.datetime(),
  with_credentials: z.boolean(),
  agent: ArchivedAgent,
  schedules: z.array(ArchivedSchedule).max(maxListed),
  subscriptions: z.array(ArchivedSubscription).max(maxListed),
  skills: z
    .array(z.strictObject({ name: z.string().max(255), source: z.string().max(300).nullable() }))
    .max(maxAssigned),
})
export type Manifest = z.output<typeof Manifest>

/** The last member: an archive without it is incomplete. */
export const ArchiveEnd = z.strictObject({
  format: z.literal('roost-agent-end'),
  /** SHA-256 of all bytes before this member, in hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  files: z.number().int().min(0),
  /** Files that the agent could not read. */
  unreadable: z.number().int().min(0),
})
export type ArchiveEnd = z.output<typeof ArchiveEnd>

export const maxNamedFiles = 100

export const ImportedAgent = AgentRow.extend({
  files: z.number().int().describe('Imported files, folders and links.'),
  schedules_created: z.number().int(),
  untrusted_files: z
    .array(z.string())
    .describe(`Files left out because runs obey them; at most ${maxNamedFiles} are named.`),
  untrusted_files_count: z.number().int(),
  warnings: z.array(z.string()).describe('What was not imported, or differs from the archive.'),
})
export type ImportedAgent = z.output<typeof ImportedAgent>

export const exportAgent = endpoint({
  id: 'exportAgent',
  method: 'GET',
  path: '/api/agents/{name}/export',
  summary: 'Export an agent with its workspace as one archive',
  description:
    'A tar archive that begins with `manifest.json` and ends with `end.json`. With a passphrase it is one age file. ' +
    '`credentials=true` requires a passphrase. The agent must be running.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  query: z.object({ credentials: queryBoolean(false) }),
  headers: ['X-Archive-Passphrase'],
  streams: ['application/x-tar', 'application/octet-stream'],
  replyHeaders: ['Content-Disposition'],
  fails: [
    'agent_not_found',
    'system_agent_protected',
    'agent_stopped',
    'agent_program_outdated',
    'agent_unresponsive',
    'conflict',
    'file_too_large',
  ],
  audit: { type: 'agent_lifecycle', action: 'export' },
})

export const importAgent = endpoint({
  id: 'importAgent',
  method: 'POST',
  path: '/api/agents/import',
  summary: 'Create an agent from an exported archive',
  description:
    'The agent is visible when the whole archive is unpacked and checked. A failed request leaves nothing behind. ' +
    'Schedules are disabled unless `enable_schedules=true`. Without `trust=true`, files that runs obey are left out.',
  tag,
  access: { who: 'any', gate: 'person', role: 'creator' },
  query: z.object({
    name: AgentName.optional().describe('Default: the name in the archive.'),
    trust: queryBoolean(false),
    enable_schedules: queryBoolean(false),
  }),
  bodyKind: 'stream',
  accepts: ['application/octet-stream', 'application/x-tar'],
  body: z.custom<ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>>(),
  headers: ['X-Archive-Passphrase'],
  returns: ImportedAgent,
  fails: [
    'invalid_archive',
    'archive_passphrase_wrong',
    'agent_exists',
    'reserved_agent_name',
    'invalid_model',
    'invalid_cron_expression',
    'invalid_timezone',
    'invalid_event_type',
    'reserved_event_type',
    'schedule_timeout_exceeds_agent_cap',
    'agent_quota_exceeded',
    'option_not_offered',
    'disk_quota_reached',
    'conflict',
    'agent_stopped',
    'agent_program_outdated',
    'agent_unresponsive',
    'not_configured',
    'container_engine_error',
    'upstream_error',
    'human_only',
  ],
  audit: { type: 'agent_lifecycle', action: 'import' },
})
