import type { SkillResult } from '@roost/contracts/skills/assignments'
import type { Executor } from '../../ports/database/port.ts'

type AssignmentsTable = {
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
type RemovalsTable = { agent_id: string; skill_name: string; requested_at: string }

export type AssignmentRow = AssignmentsTable

type Tables = { skill_assignments: AssignmentsTable; skill_removals: RemovalsTable }

export function assignmentStore(executor: Executor) {
  const db = executor.withTables<Tables>()
  return {
    of: (agentId: string): Promise<AssignmentRow[]> =>
      db
        .selectFrom('skill_assignments')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('skill_name')
        .execute(),

    /** All pairs of agent and skill. */
    holders: () =>
      db.selectFrom('skill_assignments').select(['agent_id', 'skill_name']).orderBy('skill_name').execute(),

    /** False if the agent already has it. */
    async insert(row: AssignmentRow): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('skill_assignments')
        .values(row)
        .onConflict((conflict) => conflict.columns(['agent_id', 'skill_name']).doNothing())
        .executeTakeFirst()
      return (numInsertedOrUpdatedRows ?? 0n) > 0n
    },

    async remove(agentId: string, name: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('skill_assignments')
        .where('agent_id', '=', agentId)
        .where('skill_name', '=', name)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },

    /** Stores the result of a delivery, unless the skill was assigned again since. */
    async settle(row: AssignmentRow, patch: Partial<AssignmentRow>): Promise<void> {
      await db
        .updateTable('skill_assignments')
        .set(patch)
        .where('agent_id', '=', row.agent_id)
        .where('skill_name', '=', row.skill_name)
        .where('assigned_at', '=', row.assigned_at)
        .execute()
    },

    removals: async (agentId: string): Promise<string[]> => {
      const rows = db.selectFrom('skill_removals').select('skill_name').where('agent_id', '=', agentId)
      return (await rows.execute()).map(({ skill_name }) => skill_name)
    },

    async noteRemoval(row: RemovalsTable): Promise<void> {
      await db
        .insertInto('skill_removals')
        .values(row)
        .onConflict((conflict) => conflict.columns(['agent_id', 'skill_name']).doNothing())
        .execute()
    },

    async forgetRemovals(agentId: string, names: readonly string[]): Promise<void> {
      if (names.length === 0) return
      const rows = db.deleteFrom('skill_removals').where('agent_id', '=', agentId)
      await rows.where('skill_name', 'in', [...names]).execute()
    },

    /** Agents with pending deliveries or removals. */
    async unfinished(): Promise<string[]> {
      const pending = db
        .selectFrom('skill_assignments')
        .select('agent_id')
        .where('delivery_status', '=', 'pending')
      const rows = await pending.union(db.selectFrom('skill_removals').select('agent_id')).execute()
      return [...new Set(rows.map(({ agent_id }) => agent_id))]
    },

    async agentDeleted(agentId: string): Promise<void> {
      await db.deleteFrom('skill_assignments').where('agent_id', '=', agentId).execute()
      await db.deleteFrom('skill_removals').where('agent_id', '=', agentId).execute()
    },
  }
}
