import type { Executor } from '../../ports/database/port.ts'

export type AvatarsTable = { agent_id: string; media_type: string; data_base64: string; updated_at: string }

export function avatarStore(executor: Executor) {
  const db = executor.withTables<{ agent_avatars: AvatarsTable }>()
  return {
    async of(agentId: string): Promise<AvatarsTable | null> {
      const query = db.selectFrom('agent_avatars').selectAll().where('agent_id', '=', agentId)
      return (await query.executeTakeFirst()) ?? null
    },
    async put(row: AvatarsTable): Promise<void> {
      const { agent_id: _, ...values } = row
      await db
        .insertInto('agent_avatars')
        .values(row)
        .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(values))
        .execute()
    },
    async remove(agentId: string): Promise<void> {
      await db.deleteFrom('agent_avatars').where('agent_id', '=', agentId).execute()
    },
  }
}
