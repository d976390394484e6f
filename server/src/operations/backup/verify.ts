import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { DatabaseCopies } from '../../ports/database-copies/port.ts'
import { BackupError } from './archive.ts'
import { draftNames, type FullManifest } from './content.ts'
import { type BackupSource, listedDifferences } from './source.ts'
import { type FullInstallation, mountOf, restoreAll } from './whole.ts'

export type Verify = Pick<FullInstallation, 'containers' | 'jobs'> & {
  source: BackupSource
  passphrase: Secret
  clock: Pick<Clock, 'now'>
  /** Creates an empty database; `folder` is the scratch data folder. */
  scratch(folder: string): Promise<{
    copies: DatabaseCopies
    /** Migrates the restored database and checks the invariants. Returns the violations as sentences. */
    check(manifest: FullManifest): Promise<string[]>
    drop(): Promise<void>
  }>
  /** Parent of the scratch data folder. */
  dataDir: string
  signal?: AbortSignal
}

export type Verified = { manifest: FullManifest; rows: number; volumes: number }

const scratchVolume = /^roost-(verify|restore)-\d+$/

/** Removes volumes of a verification or restore that was killed. The caller holds the lock of backups. */
export async function removeScratchVolumes({
  containers,
}: Pick<FullInstallation, 'containers'>): Promise<void> {
  for (const name of await containers.listVolumes())
    if (scratchVolume.test(name)) await containers.removeVolume(name)
}

/**
 * Restores a backup into a scratch folder, database and volumes, and compares them with the backup: rows, file
 * contents, owners, modes and times. Removes everything again. Throws `BackupError` with the differences.
 */
export async function verify(options: Verify): Promise<Verified> {
  const { containers, jobs, source, passphrase, signal } = options
  const dataDir = await mkdtemp(join(options.dataDir, draftNames.verify))
  let drop: () => Promise<void> = async () => {}
  try {
    const scratch = await options.scratch(dataDir)
    drop = scratch.drop
    const names = new Map<string, string>()
    const volumeFor = (volume: string) => {
      const known = names.get(volume) ?? `roost-verify-${names.size + 1}`
      names.set(volume, known)
      return known
    }
    const key = { encryptionKey: null, dataDir }
    const { manifest } = await restoreAll({
      ...{ key, copies: scratch.copies, containers, jobs, passphrase, source, volumeFor },
      isScratch: true,
      ...(signal && { signal }),
    })
    const rowDifferences = await differencesOfRows(scratch.copies, join(dataDir, 'compared'), manifest)
    const { volumes } = manifest
    const mounts = volumes.map((volume) => mountOf(volumeFor(volume), volume, '/restore/roost/volumes', true))
    const files = await source.compare(mounts, 'all', signal)
    const violations = await scratch.check(manifest)
    const count = rowDifferences.length + files.count + violations.length
    const listed = [...rowDifferences, ...files.listed, ...violations].slice(0, listedDifferences)
    if (count > 0)
      throw new BackupError(
        `The restored installation differs from the backup in ${count} places. First: ${listed.join('; ')}`,
      )
    const rows = Object.values(manifest.rows).reduce((sum, count) => sum + count, 0)
    return { manifest, rows, volumes: volumes.length }
  } finally {
    await removeScratchVolumes({ containers }).catch(() => {})
    await drop().catch(() => {})
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function differencesOfRows(
  copies: DatabaseCopies,
  file: string,
  { rows }: FullManifest,
): Promise<string[]> {
  await copies.copyTo(file)
  const found = await copies.countRows(file)
  const tables = [...new Set([...Object.keys(rows), ...Object.keys(found)])]
  return tables.flatMap((table) =>
    rows[table] === found[table]
      ? []
      : [`table ${table} has ${found[table] ?? 0} rows instead of ${rows[table] ?? 0}`],
  )
}
