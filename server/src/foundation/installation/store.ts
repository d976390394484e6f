import type { Db, Executor } from '../../ports/database/port.ts'

export type InstallationRow = {
  /** Always `this`: there is one row. */
  name: 'this'
  /** Label of its containers and volumes on the engine. */
  install_id: string
  /** See `Vault.keyId`. */
  key_id: string
  /** ISO 8601 UTC. */
  recorded_at: string
}

export function installationStore(on: Executor) {
  const db = on.withTables<{ installation: InstallationRow }>()
  return {
    async find(): Promise<InstallationRow | null> {
      return (await db.selectFrom('installation').selectAll().executeTakeFirst()) ?? null
    },
    /** Of concurrent calls the first one wins. */
    async insertOnce(row: Omit<InstallationRow, 'name'>): Promise<void> {
      await db
        .insertInto('installation')
        .values({ name: 'this', ...row })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute()
    },
    async setKey(key_id: string): Promise<void> {
      await db.updateTable('installation').set({ key_id }).execute()
    },
  }
}

/** A database of an older version, before its migration, has no such table. */
export async function hasInstallation(db: Db): Promise<boolean> {
  const tables = await db.withTables().introspection.getTables()
  return tables.some(({ name }) => name === 'installation')
}
