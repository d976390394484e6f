import type { Executor } from '../../ports/database/port.ts'
import { definitions } from './definitions.ts'
import { readValue } from './rules.ts'
import { settingStore } from './store.ts'

/** Returns how many days backups are kept, for a program that opens no other settings. */
export async function backupDays(on: Executor): Promise<number> {
  const { backup_retention_days: days } = definitions
  const row = (await settingStore(on).all()).find(({ key }) => key === 'backup_retention_days')
  const stored = row && readValue(days, row.value)
  return typeof stored === 'number' ? stored : days.default
}
