import { isOrganizationalTag } from '@roost/contracts/agents/agent'
import { archiveVersion, Manifest } from '@roost/contracts/operations/agent-transfer'
import type { SignedIn } from '../../identity/access/caller.ts'
import { invalidArchive } from '../../kit/tar.ts'

/** Throws `invalid_archive`, which names the field and the rule. */
export function parseManifest(bytes: Buffer): Manifest {
  const value = jsonOf(bytes, 'manifest.json')
  const version = typeof value === 'object' && value !== null && 'version' in value ? value.version : null
  if (typeof version === 'number' && version > archiveVersion) {
    throw invalidArchive(`The archive has version ${version}; this platform reads version ${archiveVersion}.`)
  }
  const result = Manifest.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const field = issue?.path.join('.') || 'manifest.json'
  throw invalidArchive(`${field}: ${issue?.message ?? 'is not valid'}.`)
}

/** Throws `invalid_archive`. */
export function jsonOf(bytes: Buffer, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw invalidArchive(`${name} is not valid JSON in UTF-8.`, cause)
  }
}

export type ImportRequest = { name: string | undefined; trust: boolean; enableSchedules: boolean }

type Switch = 0 | 1
type Columns = Pick<
  Manifest['agent'],
  'runtime' | 'disk_quota_bytes' | 'execution_timeout_seconds' | 'max_parallel_tasks' | 'strangers'
> & {
  autonomy_enabled: Switch
  read_only_enabled: Switch
  read_only_config: string | null
  mcp_exposed: Switch
  operator_resume: Switch
  circuit_breaker_enabled: Switch
  expose_folder: Switch
  consume_folders: Switch
  egress_mode: Manifest['agent']['egress']['mode']
}

export type Plan = {
  name: string
  tags: string[]
  fullCapabilities: boolean
  /** The columns of its row that a request for a new agent does not set. */
  columns: Columns
  schedules: Manifest['schedules']
  /** What differs from the archive, in sentences. */
  warnings: string[]
}

/** The settings that the importing person may set; what only an admin or a trusted archive may set is left out. */
export function planOf(
  { agent, schedules, subscriptions }: Manifest,
  caller: SignedIn,
  { name, trust, enableSchedules }: ImportRequest,
): Plan {
  const warnings: string[] = []
  const allowed = <T>(isAllowed: boolean, value: T, instead: T, warning: string): T => {
    if (isAllowed || value === instead) return value
    warnings.push(warning)
    return instead
  }
  const isAdmin = caller.user.role === 'admin'
  const quota = allowed(
    isAdmin,
    agent.disk_quota_bytes,
    null,
    'The disk quota was not imported: only an admin sets it.',
  )
  const fullCapabilities = allowed(
    trust,
    agent.full_capabilities,
    false,
    'Full capabilities were not imported: the archive is not trusted.',
  )
  const strangers = allowed(
    trust || agent.strangers !== 'write',
    agent.strangers,
    'read' as const,
    'Strangers get the access read: the archive is not trusted.',
  )
  const tags = agent.tags.filter((tag) => caller.kind !== 'key' || !isOrganizationalTag(tag))
  const refused = agent.tags.filter((tag) => !tags.includes(tag))
  if (refused.length > 0)
    warnings.push(`Only a signed-in person may add the tags ${refused.map((tag) => `"${tag}"`).join(', ')}.`)
  for (const credential of agent.egress.credentials)
    warnings.push(
      `The bound credential "${credential}" must be bound again: its value is not in the archive.`,
    )
  for (const schedule of schedules)
    if (schedule.has_webhook)
      warnings.push(`The webhook of the schedule "${schedule.name}" must be created again.`)
  for (const { source, event_type } of subscriptions)
    if (source.kind === 'agent')
      warnings.push(`The subscription to "${event_type}" of the agent "${source.name}" was not imported.`)
  return {
    name: name ?? agent.name,
    tags,
    fullCapabilities,
    columns: {
      runtime: agent.runtime,
      disk_quota_bytes: quota,
      autonomy_enabled: flag(agent.autonomy_enabled),
      read_only_enabled: flag(agent.read_only.enabled),
      read_only_config: agent.read_only.config && JSON.stringify(agent.read_only.config),
      execution_timeout_seconds: agent.execution_timeout_seconds,
      max_parallel_tasks: agent.max_parallel_tasks,
      mcp_exposed: flag(agent.mcp_exposed),
      operator_resume: flag(agent.operator_resume),
      circuit_breaker_enabled: flag(agent.circuit_breaker_enabled),
      expose_folder: flag(agent.expose_folder),
      consume_folders: flag(agent.consume_folders),
      strangers,
      egress_mode: agent.egress.mode,
    },
    schedules: schedules.map((schedule) => ({ ...schedule, enabled: schedule.enabled && enableSchedules })),
    warnings,
  }
}

function flag(value: boolean): Switch {
  return value ? 1 : 0
}
