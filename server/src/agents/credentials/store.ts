import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'

export type CredentialsTable = {
  agent_id: string
  /** Sealed JSON array of strings. */
  secrets_sealed: SealedText
  updated_at: string
}

export function credentialsTable(executor: Executor) {
  const db = executor.withTables<{ agent_credentials: CredentialsTable }>()
  return {
    async of(agentId: string): Promise<CredentialsTable | null> {
      const row = await db
        .selectFrom('agent_credentials')
        .selectAll()
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return row ?? null
    },
    async put(row: CredentialsTable): Promise<void> {
      const { agent_id: _, ...changed } = row
      await db
        .insertInto('agent_credentials')
        .values(row)
        .onConflict((c) => c.column('agent_id').doUpdateSet(changed))
        .execute()
    },
    async remove(agentId: string): Promise<void> {
      await db.deleteFrom('agent_credentials').where('agent_id', '=', agentId).execute()
    },
  }
}
