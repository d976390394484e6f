export type SourcesTable = {
  id: string
  name: string
  /** Normalized by the git port. */
  url: string
  ref: string
  ref_type: 'branch' | 'tag'
  is_default: number
  enabled: number
  priority: number
  /** User name; null for the community source. */
  created_by: string | null
  created_at: string
  updated_at: string
  last_sync_at: string | null
  last_sync_status: 'success' | 'failed' | 'moved_tag' | 'never'
  /** The commit in the library, to which a tag is pinned. Null until the first sync of repository and ref. */
  last_commit_sha: string | null
  last_error: string | null
  /** Kind of the error. */
  last_fault: string | null
  skills_root: string | null
  layout_conflict: number
  skill_count: number
}
