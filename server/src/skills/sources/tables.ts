export type SourcesTable = {
  id: string
  name: string
  /** As the git port keeps addresses. */
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
  /** What the library holds; a tag stays pinned to it. Null until the first sync of this repository and ref. */
  last_commit_sha: string | null
  last_error: string | null
  /** Class of the error. */
  last_fault: string | null
  skills_root: string | null
  layout_conflict: number
  skill_count: number
}
