/** How skills get into a workspace, and what is told of them. */

/** Skills that the agent has: folders of `.claude/skills`, `managed` when the platform has put them there. */
export type SkillsList = { t: 'skills.list' }
export type SkillsListAnswer = { skills: { name: string; managed: boolean; version: string | null }[] }
/**
 * A skill's files one after the other, in chunks; the first has offset 0. With the last one come their names, and
 * the folder is brought in line: what an earlier manifest lists and this one does not is removed.
 */
export type SkillInstall = {
  t: 'skills.install'
  upload_id: string
  offset: number
  data_base64: string
  /** Null until the last chunk. */
  manifest: SkillManifest | null
}
/** As it is kept in the skill's folder, with the names of the files alone and the time beside it. */
export type SkillManifest = {
  name: string
  /** SHA of the skill's git tree. */
  version: string
  commit: string
  source_id: string
  source_name: string
  files: { path: string; size: number; executable: boolean }[]
}
/** `conflict`: the folder is the agent's own, and was left as it is. Null before the last chunk. */
export type SkillInstallAnswer = { outcome: 'injected' | 'conflict' | null }
export type SkillsRemove = { t: 'skills.remove'; names: string[] }
/** `foreign`: the folder is the agent's own. */
export type SkillsRemoveAnswer = {
  results: { name: string; outcome: 'removed' | 'absent' | 'foreign' | 'failed' }[]
}
/** Says in the workspace which skills are the platform's, and looks for what they need. */
export type SkillsSettle = {
  t: 'skills.settle'
  skills: {
    name: string
    description: string | null
    requires: { packages: string[]; binaries: string[]; env: string[] }
  }[]
}
/** Names alone; `missing_binary:x` and the like. */
export type SkillsSettleAnswer = { warnings: { name: string; warnings: string[] }[] }
