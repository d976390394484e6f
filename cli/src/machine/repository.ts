import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

/** Paths in the repository of this command. */
export const repository = {
  root,
  /** Local files of this checkout other than the data folder; not under version control. */
  local: join(root, '.roost'),
  dotenv: join(root, '.env'),
  images: join(root, 'server/src/start/images.ts'),
  migrate: join(root, 'server/src/start/migrate.ts'),
  checkInstallation: join(root, 'server/src/start/check-installation.ts'),
  rollback: join(root, 'server/src/start/rollback.ts'),
  moveDatabase: join(root, 'server/src/start/move-database.ts'),
  backup: join(root, 'server/src/start/backup.ts'),
  rotateKey: join(root, 'server/src/start/rotate-key.ts'),
  fullBackup: join(root, 'server/src/start/full-backup.ts'),
  regainAdmin: join(root, 'server/src/start/regain-admin.ts'),
  api: join(root, 'server/src/start/api.ts'),
  scheduler: join(root, 'server/src/start/scheduler.ts'),
  mcp: join(root, 'mcp/src/start.ts'),
  modelServer: join(root, 'test-support/src/model/start.ts'),
  cluster: join(root, 'test-support/src/cluster/prepare.ts'),
} as const

export async function readVersion(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const version = typeof manifest === 'object' && manifest && 'version' in manifest ? manifest.version : null
  return typeof version === 'string' ? version : 'unknown'
}
