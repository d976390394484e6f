/** Delivery of skills into a workspace. */

/** Skills of the agent: folders of `.claude/skills`; `managed` when installed by the platform. */
export type SkillsList = { t: 'skills.list' }
export type SkillsListAnswer = { skills: { name: string; managed: boolean; version: string | null }[] }
/**
 * The concatenated files of a skill in chunks; the first has offset 0. The last chunk carries the manifest.
 * Files listed only in an earlier manifest are then deleted.
 */
export type SkillInstall = {
  t: 'skills.install'
  upload_id: string
  offset: number
  data_base64: string
  /** Null until the last chunk. */
  manifest: SkillManifest | null
}
/** Also stored in the skill's folder, with file names only and the time of installation. */
export type SkillManifest = {
  name: string
  /** SHA of the skill's git tree. */
  version: string
  commit: string
  source_id: string
  source_name: string
  files: { path: string; size: number; executable: boolean }[]
}
/** `conflict`: the folder belongs to the agent and was not changed. Null before the last chunk. */
export type SkillInstallAnswer = { outcome: 'injected' | 'conflict' | null }
export type SkillsRemove = { t: 'skills.remove'; names: string[] }
/** `foreign`: the folder belongs to the agent. */
export type SkillsRemoveAnswer = {
  results: { name: string; outcome: 'removed' | 'absent' | 'foreign' | 'failed' }[]
}
/** Lists the platform's skills in the workspace's instructions and checks their requirements. */
export type SkillsSettle = {
  t: 'skills.settle'
  skills: {
    name: string
    description: string | null
    requires: { packages: string[]; binaries: string[]; env: string[] }
  }[]
}
/** Warnings such as `missing_binary:x`, without values. */
export type SkillsSettleAnswer = { warnings: { name: string; warnings: string[] }[] }
