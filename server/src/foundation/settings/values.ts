import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import {
  definitions,
  retentionKeys,
  type SettingKey,
  type SettingValue,
  type SettingValues,
} from './definitions.ts'
import { createRefresh } from './refresh.ts'
import { readValue } from './rules.ts'
import { type SettingRow, settingStore } from './store.ts'

export type ReadSetting = <K extends SettingKey>(key: K) => SettingValue<K>

/** The stored settings, cached in memory. */
export type Values = {
  /** The stored value, else the default. */
  value: ReadSetting
  /** The default in this installation, which its environment can change. */
  defaultOf: ReadSetting
  row(key: string): SettingRow | null
  rows(): SettingRow[]
  /** `check` reads values as they will be after the write; when it throws, nothing is written. */
  write(values: Record<string, string>, check?: (after: ReadSetting) => void): Promise<void>
  /** Returns the removed keys. */
  remove(keys: string[]): Promise<string[]>
  refresh(): Promise<void>
}

export const settingsTopic = 'settings'

export async function openValues(deps: {
  db: Db
  ephemeral: Pick<Ephemeral, 'publish'>
  clock: Pick<Clock, 'now'>
  defaults: Partial<SettingValues>
}): Promise<Values> {
  const { db, ephemeral, clock, defaults } = deps
  const store = settingStore(db)
  let stored = new Map<string, SettingRow>()
  /** Parsed values. */
  let parsed = new Map<SettingKey, string | number | boolean>()

  const refresh = createRefresh(async () => {
    const rows = await store.all()
    stored = new Map(rows.map((row) => [row.key, row]))
    parsed = new Map()
  })
  const changed = async () => {
    await refresh()
    // If this message is lost, other processes read the change in their refresh loop.
    ephemeral.publish(settingsTopic, '').catch(() => {})
  }
  const rowsOf = (values: Record<string, string>): SettingRow[] => {
    const updated_at = timestamp(clock.now())
    return Object.entries(values).map(([key, value]) => ({ key, value, updated_at }))
  }

  function parse<K extends SettingKey>(key: K, text: string | undefined): SettingValue<K> {
    const found = text === undefined ? undefined : readValue(definitions[key], text)
    // Parsed by the definition of this key.
    return (found ?? values.defaultOf(key)) as SettingValue<K>
  }

  const values: Values = {
    value(key) {
      let found = parsed.get(key)
      if (found === undefined) {
        found = parse(key, stored.get(key)?.value)
        parsed.set(key, found)
      }
      return found as SettingValue<typeof key>
    },
    defaultOf: (key) => defaults[key] ?? definitions[key].default,
    row: (key) => stored.get(key) ?? null,
    rows: () => [...stored.values()],
    async write(entries, check) {
      await db.atomically(async (tx) => {
        const store = settingStore(tx)
        if (check) {
          // Another process may have changed the other threshold of a pair meanwhile.
          await store.lock()
          const rows = [...(await store.all()), ...rowsOf(entries)]
          const texts = new Map(rows.map(({ key, value }) => [key, value]))
          check((key) => parse(key, texts.get(key)))
        }
        await store.put(rowsOf(entries))
      })
      await changed()
    },
    async remove(keys) {
      const removed = await store.remove(keys)
      await changed()
      return removed
    },
    refresh,
  }

  // Stored explicitly, so that a later version with shorter defaults deletes nothing earlier.
  const windows = retentionKeys.map((key) => [key, String(values.defaultOf(key))])
  await store.putIfAbsent(rowsOf(Object.fromEntries(windows)))
  await refresh()
  return values
}
