import type { SkillSource } from '@roost/contracts/skills/sources'
import type { SourcesTable } from './tables.ts'

/** Address of the skills that come with the platform. */
export const bundledUrl = 'bundled:community'

/** `v<major>.<minor>.<patch>`, with a pre-release after a hyphen. A tag like `v1` is moved with each release. */
const releaseTag = /^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

export function isReleaseTag(name: string): boolean {
  return releaseTag.test(name)
}

/** The tag under which a version of the platform is released. */
export function releaseTagOf(version: string): string {
  return `v${version}`
}

export function toldSource(row: SourcesTable): SkillSource {
  const { last_fault: _, ...told } = row
  return {
    ...told,
    is_default: row.is_default === 1,
    enabled: row.enabled === 1,
    layout_conflict: row.layout_conflict === 1,
  }
}

/** A source that tracks something else now: what was found before is not pinned any more. */
export const unsynced = {
  last_sync_at: null,
  last_sync_status: 'never',
  last_commit_sha: null,
  last_error: null,
  last_fault: null,
} as const satisfies Partial<SourcesTable>
