import type { KeyScope } from '@roost/contracts/kit/access'
import type { Executor } from '../../ports/database/port.ts'

export type KeyRow = {
  id: string
  user_id: string
  /** The agent that keys of scope `agent`, `system` and `connector` are bound to. */
  agent_id: string | null
  name: string
  description: string | null
  scope: KeyScope
  /** SHA-256 of the key, hex. */
  key_hash: string
  key_prefix: string
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
  usage_count: number
  /** The user's id in the user's default key, until that is revoked. Unique. */
  default_of: string | null
}

type KeyTables = { mcp_keys: KeyRow }

export type Usage = { count: number; last: string }

export function keyStore(executor: Executor) {
  const db = executor.withTables<KeyTables>()
  return {
    async byHash(key_hash: string): Promise<KeyRow | null> {
      const query = db.selectFrom('mcp_keys').selectAll().where('key_hash', '=', key_hash)
      return (await query.executeTakeFirst()) ?? null
    },

    async byId(id: string): Promise<KeyRow | null> {
      return (await db.selectFrom('mcp_keys').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
    },

    /** Newest first. Null lists the keys of all users. */
    async list(userId: string | null): Promise<KeyRow[]> {
      return db
        .selectFrom('mcp_keys')
        .selectAll()
        .$if(userId !== null, (query) => query.where('user_id', '=', userId ?? ''))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
    },

    /** Returns the newest `user` key that is not revoked. */
    async anyUserKey(userId: string): Promise<KeyRow | null> {
      const row = await db
        .selectFrom('mcp_keys')
        .selectAll()
        .where('user_id', '=', userId)
        .where('scope', '=', 'user')
        .where('revoked_at', 'is', null)
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ?? null
    },

    /** False if the user has a default key already, the only possible conflict. */
    async insert(row: KeyRow): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('mcp_keys')
        .values(row)
        .onConflict((conflict) => conflict.column('default_of').doNothing())
        .executeTakeFirst()
      return (numInsertedOrUpdatedRows ?? 0n) > 0n
    },

    async revoke(id: string, now: string): Promise<void> {
      await db
        .updateTable('mcp_keys')
        .set({ revoked_at: now, default_of: null })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .execute()
    },

    /** False if it was deleted already. */
    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await db.deleteFrom('mcp_keys').where('id', '=', id).executeTakeFirst()
      return numDeletedRows > 0n
    },

    async revokeOfAgent(agentId: string, now: string, exceptId: string | null): Promise<void> {
      await db
        .updateTable('mcp_keys')
        .set({ revoked_at: now })
        .where('agent_id', '=', agentId)
        .where('scope', 'in', ['agent', 'system'])
        .where('revoked_at', 'is', null)
        .$if(exceptId !== null, (query) => query.where('id', '!=', exceptId ?? ''))
        .execute()
    },

    /** Newest first, without revoked keys. */
    async connectorsOf(agentId: string): Promise<KeyRow[]> {
      return db
        .selectFrom('mcp_keys')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('scope', '=', 'connector')
        .where('revoked_at', 'is', null)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
    },

    async removeOfAgent(agentId: string): Promise<void> {
      await db.deleteFrom('mcp_keys').where('agent_id', '=', agentId).execute()
    },

    /** Adds to the counters of a key. Ignores a deleted key. */
    async addUsage(id: string, { count, last }: Usage): Promise<void> {
      await db
        .updateTable('mcp_keys')
        .set((eb) => ({
          usage_count: eb('usage_count', '+', count),
          last_used_at: eb
            .case()
            .when('last_used_at', '>', last)
            .then(eb.ref('last_used_at'))
            .else(last)
            .end(),
        }))
        .where('id', '=', id)
        .execute()
    },
  }
}
