import type { SkillResult } from '@roost/contracts/skills/assignments'

export type AssignmentsTable = {
  agent_id: string
  skill_name: string
  /** User name. */
  assigned_by: string
  assigned_at: string
  /** `pending`: the agent is still to get it. */
  delivery_status: SkillResult['status'] | 'pending'
  delivered_at: string | null
  /** Of the skill when it was delivered. */
  description: string | null
  /** SHA of the tree that the agent has; null: none. */
  version: string | null
  source_id: string | null
  source_name: string | null
  /** JSON array. */
  warnings: string
  error: string | null
}

/** Taken from an agent, and still in its workspace. */
export type RemovalsTable = { agent_id: string; skill_name: string; requested_at: string }
