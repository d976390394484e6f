import type { Executor } from '../../ports/database/port.ts'
import type { ConnectorsTable } from './tables.ts'

export function connectorStore(executor: Executor) {
  const db = executor.withTables<{ agent_connectors: ConnectorsTable }>()
  return {
    async of(agentId: string): Promise<ConnectorsTable | null> {
      const query = db.selectFrom('agent_connectors').selectAll().where('agent_id', '=', agentId)
      return (await query.executeTakeFirst()) ?? null
    },

    async put(row: ConnectorsTable): Promise<void> {
      const { agent_id: _, ...values } = row
      await db
        .insertInto('agent_connectors')
        .values(row)
        .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(values))
        .execute()
    },
  }
}
