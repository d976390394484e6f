import { isOrganizationalTag } from '@roost/contracts/agents/agent'
import type { CreateAgent } from '@roost/contracts/agents/registry'
import type { SignedIn } from '../../identity/access/caller.ts'
import type { Filled, RecordRow } from '../history/index.ts'
import type { Agent, AgentPatch, ForkedFrom } from '../records/index.ts'
import type { ForkRequest } from './request.ts'

export type Plan = {
  body: CreateAgent
  /** What a request for a new agent does not set. */
  columns: AgentPatch
  /** What is not as in the source, in sentences. */
  warnings: string[]
}

/** `defaultDiskQuota`: of agents without their own; 0 means unlimited, as everywhere. */
export function planOf(
  source: Agent,
  caller: SignedIn,
  { request, defaultDiskQuota }: { request: ForkRequest; defaultDiskQuota: number },
): Plan {
  const warnings: string[] = []
  const tags = source.tags.filter((tag) => caller.kind !== 'key' || !isOrganizationalTag(tag))
  const refused = source.tags.filter((tag) => !tags.includes(tag))
  if (refused.length > 0) warnings.push(`Only a signed-in person may add the tags ${quoted(refused)}.`)
  const quota = source.disk_quota_bytes
  const mayKeepQuota = caller.user.role === 'admin' || !isAbove(quota, defaultDiskQuota)
  if (!mayKeepQuota) warnings.push('The disk quota of the source was not copied: only an admin may set it.')
  const runtime = request.runtime ?? source.runtime
  // A model belongs to its runtime. The template stays behind, so its model becomes the fork's own.
  const inherited = runtime === source.runtime ? (source.runtime_model ?? source.template_model) : null
  return {
    body: {
      name: request.name,
      type: source.type,
      runtime_model: request.runtime_model === undefined ? inherited : request.runtime_model,
      // Only allowed values are ever stored.
      resources: { cpu: source.cpu, memory: source.memory } as CreateAgent['resources'],
      custom_instructions: source.custom_instructions,
      tags,
      full_capabilities: source.full_capabilities,
      ephemeral: source.ephemeral,
    },
    columns: {
      runtime,
      autonomy_enabled: flag(source.autonomy_enabled),
      read_only_enabled: flag(source.read_only_enabled),
      read_only_config: source.read_only_config && JSON.stringify(source.read_only_config),
      execution_timeout_seconds: source.execution_timeout_seconds,
      max_parallel_tasks: source.max_parallel_tasks,
      mcp_exposed: flag(source.mcp_exposed),
      operator_resume: flag(source.operator_resume),
      circuit_breaker_enabled: flag(source.circuit_breaker_enabled),
      expose_folder: flag(source.expose_folder),
      consume_folders: flag(source.consume_folders),
      strangers: source.strangers,
      egress_mode: source.egress_mode,
      container_runtime: source.container_runtime,
      disk_quota_bytes: mayKeepQuota ? quota : null,
      attempt_set_id: request.attempt_set_id ?? null,
    },
    warnings,
  }
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0
}

/** Whether an own quota allows more than the default. */
export function isAbove(own: number | null, defaultQuota: number): boolean {
  return own !== null && defaultQuota !== 0 && (own === 0 || own > defaultQuota)
}

export function forkedFrom(source: Agent, record: RecordRow): ForkedFrom {
  return {
    agent_id: source.id,
    agent_name: source.name,
    record_id: record.id,
    record_at: record.created_at,
  }
}

export function filledWarnings({ omitted, omittedCount, conflicts, conflictCount }: Filled): string[] {
  const warnings: string[] = []
  if (omittedCount > 0)
    warnings.push(`Credentials and files of the platform were not copied: ${named(omitted, omittedCount)}.`)
  if (conflictCount > 0)
    warnings.push(`These paths could not be written: ${named(conflicts, conflictCount)}.`)
  return warnings
}

/** `isOff`: runs of the source are not recorded. */
export function recordWarnings(
  source: Pick<Agent, 'name'>,
  facts: { leftOut: readonly string[]; leftOutCount: number; isOff: boolean },
): string[] {
  const warnings: string[] = []
  if (facts.isOff)
    warnings.push(`The history of "${source.name}" is switched off: its runs are not recorded.`)
  const missed = facts.leftOut.filter((path) => !disposable.has(path))
  const missedCount = facts.leftOutCount - (facts.leftOut.length - missed.length)
  if (missedCount > 0)
    warnings.push(
      `These paths are missing in the fork, because the record left them out: ${named(missed, missedCount)}.`,
    )
  return warnings
}

/** Folders of every agent, which fill themselves again. */
const disposable: ReadonlySet<string> = new Set(['.tmp', '.cache'])

const maxNamed = 5

function named(paths: readonly string[], count: number): string {
  const shown = paths.slice(0, maxNamed)
  const more = count - shown.length
  return `${quoted(shown)}${more > 0 ? ` and ${more} more` : ''}`
}

/** Agents name paths, so control characters are replaced. */
function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text.replaceAll(/\p{Cc}/gu, '\u{fffd}').slice(0, 200)}"`).join(', ')
}
