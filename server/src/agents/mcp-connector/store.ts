import type { Executor } from '../../ports/database/port.ts'

/** Agents without a row have the connector off. */
export type ConnectorsTable = {
  agent_id: string
  enabled: number
  expose_all_playbooks: number
  /** JSON array of names. */
  exposed_playbooks: string
  updated_at: string
}

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
