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
  busy: { tone: 'info', label: 'is being synced by another worker' },
  moved_tag: { tone: 'warning', label: 'its tag was moved; nothing changed' },
}

export const deliveryStatusWords: Record<NonNullable<AssignedSkill['delivery_status']>, Words> = {
  injected: { tone: 'success', label: 'Delivered' },
  unchanged: { tone: 'success', label: 'Delivered' },
  failed: { tone: 'danger', label: 'Failed' },
  conflict: { tone: 'warning', label: 'Conflict' },
  pending: { tone: 'info', label: 'Pending' },
}

const reasons: Record<NonNullable<SkillDelivery['reason']>, string> = {
  agent_stopped: 'The agent is stopped: it has them once it is started.',
  agent_starting: 'The agent is starting: it has them in a moment.',
  injection_in_progress: 'Another delivery is under way and takes them along.',
  container_state_unreadable: 'The state of its container could not be read.',
  install_failed: 'The agent could not install them.',
  agent_unreachable: 'The agent does not answer; it is tried again.',
}

export type Told = { tone: 'success' | 'warning' | 'danger' | 'neutral'; description?: string }

/** How a delivery went, for a message that says already what was wanted. */
export function deliveryWords({ status, reason, results }: SkillDelivery): Told {
  const problems = Object.entries(results).flatMap(([name, result]) =>
    result.status === 'failed' || result.status === 'conflict'
      ? [`${name}: ${result.error ?? deliveryStatusWords[result.status].label.toLowerCase()}`]
      : [],
  )
  if (problems.length > 0) return { tone: 'danger', description: problems.join('; ') }
  if (status === 'injected') return { tone: 'success', description: 'The agent has it.' }
  const description = reason === null ? undefined : reasons[reason]
  const tone = status === 'not_delivered' ? 'warning' : 'neutral'
  return description === undefined ? { tone } : { tone, description }
}

/** What is still in the agent after it was taken away; null when nothing is. */
export function removalWords(removal: SkillRemoval | null): string | null {
  if (removal === null || removal.status === 'completed') return null
  if (removal.status === 'partial') return 'Some of it could not be removed from the agent.'
  return removal.reason === 'agent_stopped'
    ? 'It is removed from the workspace at the next start.'
    : 'It is removed from the workspace as soon as the agent can be reached.'
}

/** `missing_binary:jq` in words. What is not known is shown as it is. */
export function warningWords(warning: string): string {
  const [kind = '', ...rest] = warning.split(':')
  const what = rest.join(':')
  switch (kind) {
    case 'missing_binary':
      return `The program ${what} is not in the agent`
    case 'missing_env':
      return `The variable ${what} is not set in the agent`
    case 'missing_package':
      return `The package ${what} is not in the agent`
    case 'frontmatter_invalid':
      return 'Its frontmatter cannot be read'
    case 'shadowed':
      return `${what} has a skill of this name, too`
    case 'symlink_skipped':
      return `The link ${what} was left out`
    case 'non_regular_skipped':
      return `${what} is no file and was left out`
    case 'protected_name_skipped':
      return `${what} was left out: its name is protected`
    default:
      return warning
  }
}

/** One line about a sync of one or more sources; the sources that need a look are told apart. */
export function syncWords(sync: Omit<SkillSync, 'success' | 'message'>): Told & { title: string } {
  const others = sync.sources.filter(({ status }) => status !== 'ok')
  const fleet = sync.fleet_reinject_started ? ' Agents are being brought up to date.' : ''
  const skills = `${plural(sync.skills_count, 'skill')} in all sources.${fleet}`
  if (others.length === 0) {
    const title = sync.commit_changed ? 'The library has changed.' : 'Nothing has changed.'
    return { tone: 'success', title, description: skills }
  }
  const description = others
    .map(({ name, status, error }) => `${name}: ${error ?? syncResultWords[status].label}`)
    .join('; ')
  const title = `${plural(others.length, 'source')} of ${sync.sources.length} could not be synced.`
  return { tone: 'warning', title, description }
}

/** The text below the frontmatter, which the facts beside it already tell. */
export function bodyOf(content: string): string {
  const [, body] = /^\uFEFF?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(content) ?? []
  return body ?? content
}
