import type { Executor } from '../../ports/database/port.ts'
import type { SealedText } from '../vault/index.ts'

type SettingTables = {
  settings: { key: string; value: string; updated_at: string }
  provider_keys: {
    provider: string
    /** Sealed for this provider: cannot be opened in another row. */
    sealed_key: SealedText
    hint: string
    updated_at: string
    last_tested_at: string | null
    last_test_ok: number | null
  }
  /** Held sweeps, at most one per retention setting. */
  retention_holds: {
    key: string
    window_days: number
    rows: number
    /** Share of the table in millionths. */
    share_ppm: number
    computed_at: string
    acknowledged_at: string | null
  }
}

export type SettingRow = SettingTables['settings']
type RetentionHoldRow = SettingTables['retention_holds']
export type ProviderKeyRow = SettingTables['provider_keys']

export function settingStore(on: Executor) {
  const db = on.withTables<SettingTables>()
  return {
    all(): Promise<SettingRow[]> {
      return db.selectFrom('settings').selectAll().orderBy('key').execute()
    },

    /** Serializes transactions that depend on several settings. This row always exists. */
    async lock(): Promise<void> {
      await db
        .updateTable('settings')
        .set((row) => ({ value: row.ref('value') }))
        .where('key', '=', 'audit_retention_days')
        .execute()
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

    /** Returns the removed keys. */
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

    /** Changes nothing when the tested key was replaced meanwhile. */
    async noteTest(provider: string, sealedKey: SealedText, at: string, isOk: boolean): Promise<void> {
      await db
        .updateTable('provider_keys')
        .set({ last_tested_at: at, last_test_ok: isOk ? 1 : 0 })
        .where('provider', '=', provider)
        .where('sealed_key', '=', sealedKey)
        .execute()
    },

    holds(): Promise<RetentionHoldRow[]> {
      return db.selectFrom('retention_holds').selectAll().orderBy('key').execute()
    },

    async putHold(row: RetentionHoldRow): Promise<void> {
      const { key: _, ...values } = row
      await db
        .insertInto('retention_holds')
        .values(row)
        .onConflict((conflict) => conflict.column('key').doUpdateSet(values))
        .execute()
    },

    /** Returns the number of held rows; 0 when no sweep is held for that window. */
    async acknowledgeHold(key: string, windowDays: number, at: string): Promise<number> {
      const row = await db
        .updateTable('retention_holds')
        .set({ acknowledged_at: at })
        .where('key', '=', key)
        .where('window_days', '=', windowDays)
        .where('acknowledged_at', 'is', null)
        .returning('rows')
        .executeTakeFirst()
      return row?.rows ?? 0
    },

    async removeHold(key: string): Promise<void> {
      await db.deleteFrom('retention_holds').where('key', '=', key).execute()
    },

    async removeProviderKey(provider: string): Promise<void> {
      await db.deleteFrom('provider_keys').where('provider', '=', provider).execute()
    },
  }
}
