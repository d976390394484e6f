import type { SkillSource } from '@roost/contracts/skills/sources'
import type { SourcesTable } from './store.ts'

/** Address of the bundled skills. */
export const bundledUrl = 'bundled:community'

/** `v<major>.<minor>.<patch>` with an optional pre-release. A tag like `v1` moves with each release. */
const releaseTag = /^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

export function isReleaseTag(name: string): boolean {
  return releaseTag.test(name)
}

/** The tag under which a version of the platform is released. */
export function releaseTagOf(version: string): string {
  return `v${version}`
}

export function sourceView(row: SourcesTable): SkillSource {
  const { last_fault: _, ...fields } = row
  return {
    ...fields,
    is_default: row.is_default === 1,
    enabled: row.enabled === 1,
    layout_conflict: row.layout_conflict === 1,
  }
}

/** The state of a source with another repository or ref: nothing is pinned. */
export const unsynced = {
  last_sync_at: null,
  last_sync_status: 'never',
  last_commit_sha: null,
  last_error: null,
  last_fault: null,
} as const satisfies Partial<SourcesTable>
