import * as endpoints from '@roost/contracts/operations/scheduled-backups'
import { type Route, route } from '../../http/route.ts'
import type { ScheduledBackups } from './service.ts'

const started = { status: 'started' } as const

export function scheduledBackupRoutes(backups: ScheduledBackups): Route[] {
  return [
    route(endpoints.getBackupSettings, () => backups.view()),
    route(endpoints.putBackupSettings, async ({ body, request }) => {
      const view = await backups.put(body)
      // Only of accepted values: a refused address may be a secret in the wrong field.
      const { passphrase, s3, sftp, ...plain } = body
      request.note({
        ...plain,
        changes_passphrase: passphrase !== undefined,
        s3: nameOf(s3),
        sftp: nameOf(sftp),
      })
      return view
    }),
    route(endpoints.runBackup, async () => {
      await backups.start('backup')
      return started
    }),
    route(endpoints.verifyBackup, async () => {
      await backups.start('verification')
      return started
    }),
  ]
}

function nameOf(credentials: object | null | undefined): 'kept' | 'deleted' | 'set' {
  if (credentials === undefined) return 'kept'
  return credentials === null ? 'deleted' : 'set'
}
