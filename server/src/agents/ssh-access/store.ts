import type { Executor } from '../../ports/database/port.ts'

/** Keys that allow SSH logins until they expire. */
export type SshKeysTable = {
  id: string
  agent_id: string
  public_key: string
  created_at: string
  expires_at: string
}

export function sshKeyStore(executor: Executor) {
  const db = executor.withTables<{ agent_ssh_keys: SshKeysTable }>()
  return {
    async insert(row: SshKeysTable): Promise<void> {
      await db.insertInto('agent_ssh_keys').values(row).execute()
    },
    async remove(id: string): Promise<void> {
      await db.deleteFrom('agent_ssh_keys').where('id', '=', id).execute()
    },
    async ofAgent(agentId: string): Promise<SshKeysTable[]> {
      return db
        .selectFrom('agent_ssh_keys')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('created_at')
        .orderBy('id')
        .execute()
    },
    async removeOfAgent(agentId: string): Promise<void> {
      await db.deleteFrom('agent_ssh_keys').where('agent_id', '=', agentId).execute()
    },
    /** Agents with an expired key. */
    async agentsWithExpired(now: string): Promise<string[]> {
      const rows = await db
        .selectFrom('agent_ssh_keys')
        .select('agent_id')
        .distinct()
        .where('expires_at', '<=', now)
        .execute()
      return rows.map((row) => row.agent_id)
    },
    async removeExpired(agentId: string, now: string): Promise<void> {
      await db
        .deleteFrom('agent_ssh_keys')
        .where('agent_id', '=', agentId)
        .where('expires_at', '<=', now)
        .execute()
    },
  }
}
