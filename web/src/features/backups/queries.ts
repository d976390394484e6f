import type { Client } from '@roost/contracts/client'
import { type BackupSettings, getBackupSettings } from '@roost/contracts/operations/scheduled-backups'
import { queryOptions } from '@tanstack/react-query'

export const backupsKey = ['settings', 'backup'] as const

/** Refreshes every 3 seconds during a backup, because its progress causes no event, else every minute. */
export const backupsQuery = (api: Client) =>
  queryOptions({
    queryKey: backupsKey,
    queryFn: ({ signal }) => api.call(getBackupSettings, { signal }),
    refetchInterval: ({ state }) => ((state.data as BackupSettings | undefined)?.running ? 3_000 : 60_000),
  })
