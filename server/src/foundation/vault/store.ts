import type { Db, Executor } from '../../ports/database/port.ts'
import type { SealedText } from './service.ts'

/** A former key of the installation. Times are ISO 8601 UTC. */
export type RetiredKeyRow = {
  /** See `Vault.keyId`. */
  key_id: string
  /** The key in hexadecimal, sealed by its successor or a later key. */
  key_sealed: SealedText
  /** The id of the key that replaced it. */
  successor_id: string
  retired_at: string
  /** Until then the tokens of turns that ran during the rotation are accepted. */
  turns_until: string
}

export function retiredKeyStore(on: Executor) {
  const db = on.withTables<{ retired_keys: RetiredKeyRow }>()
  return {
    all: () => db.selectFrom('retired_keys').selectAll().orderBy('retired_at', 'desc').execute(),
    async find(keyId: string): Promise<RetiredKeyRow | null> {
      const query = db.selectFrom('retired_keys').selectAll().where('key_id', '=', keyId)
      return (await query.executeTakeFirst()) ?? null
    },
    async insert(row: RetiredKeyRow): Promise<void> {
      await db.insertInto('retired_keys').values(row).execute()
    },
    /** Ends the grace period of all turns. */
    async endTurns(turns_until: string): Promise<void> {
      await db.updateTable('retired_keys').set({ turns_until }).execute()
    },
  }
}

/** A database of an older version, before its migration, has no such table. */
export async function hasRetiredKeys(db: Db): Promise<boolean> {
  const tables = await db.withTables().introspection.getTables()
  return tables.some(({ name }) => name === 'retired_keys')
}
