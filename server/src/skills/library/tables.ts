/** One skill of one source, as its commit has it. */
export type EntriesTable = {
  source_id: string
  name: string
  path: string
  /** SHA of its git tree. */
  version: string
  commit_sha: string
  file_count: number
  size_bytes: number
  /** JSON `SkillFacts`. */
  facts: string
  /** JSON `Package`. */
  package: string
  content: string
}
