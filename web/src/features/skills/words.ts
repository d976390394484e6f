import type { AssignedSkill, SkillDelivery, SkillRemoval } from '@roost/contracts/skills/assignments'
import type { SkillSource, SkillSync } from '@roost/contracts/skills/sources'
import { plural } from '../../lib/format.ts'

type Tone = 'success' | 'warning' | 'danger' | 'info' | 'neutral'
export type Words = { tone: Tone; label: string }

export const sourceStatusWords: Record<SkillSource['last_sync_status'], Words> = {
  success: { tone: 'success', label: 'Synced' },
  failed: { tone: 'danger', label: 'Failed' },
  moved_tag: { tone: 'warning', label: 'Tag was moved' },
  never: { tone: 'neutral', label: 'Never synced' },
}

export const syncResultWords: Record<SkillSync['sources'][number]['status'], Words> = {
  ok: { tone: 'success', label: 'up to date' },
  failed: { tone: 'danger', label: 'failed' },
  busy: { tone: 'info', label: 'another sync is running' },
  moved_tag: { tone: 'warning', label: 'the tag was moved; nothing changed' },
}

export const deliveryStatusWords: Record<NonNullable<AssignedSkill['delivery_status']>, Words> = {
  injected: { tone: 'success', label: 'Delivered' },
  unchanged: { tone: 'success', label: 'Delivered' },
  failed: { tone: 'danger', label: 'Failed' },
  conflict: { tone: 'warning', label: 'Conflict' },
  pending: { tone: 'info', label: 'Pending' },
}

const reasons: Record<NonNullable<SkillDelivery['reason']>, string> = {
  agent_stopped: 'The agent is stopped. The skills are delivered when it starts.',
  agent_starting: 'The agent is starting. The skills are delivered in a moment.',
  injection_in_progress: 'Another delivery is running and includes them.',
  container_state_unreadable: 'Could not read the state of the container.',
  install_failed: 'The agent could not install the skills.',
  agent_unreachable: 'The agent does not respond. Roost retries automatically.',
}

export type DeliveryReport = { tone: 'success' | 'warning' | 'danger' | 'neutral'; description?: string }

/** The result of a delivery, for a message that already names the action. */
export function deliveryWords({ status, reason, results }: SkillDelivery): DeliveryReport {
  const problems = Object.entries(results).flatMap(([name, result]) =>
    result.status === 'failed' || result.status === 'conflict'
      ? [`${name}: ${result.error ?? deliveryStatusWords[result.status].label.toLowerCase()}`]
      : [],
  )
  if (problems.length > 0) return { tone: 'danger', description: problems.join('; ') }
  if (status === 'injected') return { tone: 'success', description: 'Delivered to the agent.' }
  const description = reason === null ? undefined : reasons[reason]
  const tone = status === 'not_delivered' ? 'warning' : 'neutral'
  return description === undefined ? { tone } : { tone, description }
}

/** What remains in the agent after the removal; null when nothing does. */
export function removalWords(removal: SkillRemoval | null): string | null {
  if (removal === null || removal.status === 'completed') return null
  if (removal.status === 'partial') return 'Some files could not be removed from the agent.'
  return removal.reason === 'agent_stopped'
    ? 'The files are removed from the workspace at the next start.'
    : 'The files are removed from the workspace when the agent is reachable again.'
}

/** Describes `missing_binary:jq`. Unknown warnings stay unchanged. */
export function warningWords(warning: string): string {
  const [kind = '', ...rest] = warning.split(':')
  const what = rest.join(':')
  switch (kind) {
    case 'missing_binary':
      return `The program ${what} is missing in the agent`
    case 'missing_env':
      return `The variable ${what} is not set in the agent`
    case 'missing_package':
      return `The package ${what} is missing in the agent`
    case 'frontmatter_invalid':
      return 'The frontmatter is invalid'
    case 'shadowed':
      return `${what} also has a skill of this name`
    case 'symlink_skipped':
      return `The symbolic link ${what} was omitted`
    case 'non_regular_skipped':
      return `${what} was omitted because it is not a regular file`
    case 'protected_name_skipped':
      return `${what} was omitted because its name is protected`
    default:
      return warning
  }
}

/** Summarizes a sync of one or more sources and names the sources with problems. */
export function syncWords(sync: Omit<SkillSync, 'success' | 'message'>): DeliveryReport & { title: string } {
  const others = sync.sources.filter(({ status }) => status !== 'ok')
  const fleet = sync.fleet_reinject_started ? ' Agents are being updated.' : ''
  const skills = `${plural(sync.skills_count, 'skill')} in all sources.${fleet}`
  if (others.length === 0) {
    const title = sync.commit_changed ? 'Skill library updated.' : 'No changes in the skill library.'
    return { tone: 'success', title, description: skills }
  }
  const description = others
    .map(({ name, status, error }) => `${name}: ${error ?? syncResultWords[status].label}`)
    .join('; ')
  const title = `${plural(others.length, 'source')} of ${sync.sources.length} could not be synced.`
  return { tone: 'warning', title, description }
}

/** The text without its frontmatter, which is shown separately. */
export function bodyOf(content: string): string {
  const [, body] = /^\uFEFF?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(content) ?? []
  return body ?? content
}
