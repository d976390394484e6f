import type { Executor } from '../../ports/database/port.ts'
import type { ProviderKeyRow, SettingRow, SettingTables } from './tables.ts'

export function settingStore(on: Executor) {
  const db = on.withTables<SettingTables>()
  return {
    all(): Promise<SettingRow[]> {
      return db.selectFrom('settings').selectAll().orderBy('key').execute()
    },

    async put(rows: SettingRow[]): Promise<void> {
      for (const { key, value, updated_at } of rows) {
        await db
          .insertInto('settings')
          .values({ key, value, updated_at })
          .onConflict((conflict) => conflict.column('key').doUpdateSet({ value, updated_at }))
          .execute()
      }
    },

    async putIfAbsent(rows: SettingRow[]): Promise<void> {
      if (rows.length === 0) return
      await db
        .insertInto('settings')
        .values(rows)
        .onConflict((conflict) => conflict.column('key').doNothing())
        .execute()
    },

    /** The keys that were there. */
    async remove(keys: string[]): Promise<string[]> {
      const rows = await db.deleteFrom('settings').where('key', 'in', keys).returning('key').execute()
      return rows.map(({ key }) => key)
    },

    providerKeys(): Promise<ProviderKeyRow[]> {
      return db.selectFrom('provider_keys').selectAll().execute()
    },

    async putProviderKey(row: ProviderKeyRow): Promise<void> {
      const { provider: _, ...values } = row
      await db
        .insertInto('provider_keys')
        .values(row)
        .onConflict((conflict) => conflict.column('provider').doUpdateSet(values))
        .execute()
    },

    async removeProviderKey(provider: string): Promise<void> {
      await db.deleteFrom('provider_keys').where('provider', '=', provider).execute()
    },
  }
}
