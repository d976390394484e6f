import type { Executor } from '../../ports/database/port.ts'
import type { AvatarsTable } from './tables.ts'

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
