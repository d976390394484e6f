import type { SkillResult } from '@roost/contracts/skills/assignments'

export type AssignmentsTable = {
  agent_id: string
  skill_name: string
  /** User name. */
  assigned_by: string
  assigned_at: string
  /** `pending` until the first delivery. */
  delivery_status: SkillResult['status'] | 'pending'
  delivered_at: string | null
  /** Of the delivered version. */
  description: string | null
  /** SHA of the delivered tree; null before the first delivery. */
  version: string | null
  source_id: string | null
  source_name: string | null
  /** JSON array. */
  warnings: string
  error: string | null
}

/** A removed assignment whose files are still in the workspace. */
export type RemovalsTable = { agent_id: string; skill_name: string; requested_at: string }
