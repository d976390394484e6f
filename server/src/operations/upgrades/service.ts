import type { KeySource } from '../../foundation/vault/index.ts'
import type { MigrationState } from '../../ports/database/port.ts'
import type { DatabaseCopies } from '../../ports/database-copies/port.ts'
import {
  isUnmigrated,
  listBackups,
  makeBackup,
  removeBackup,
  removeOldBackups,
  UpgradeError,
} from './backups.ts'
import { type Code, readJournal, readState, type UpgradeState, writeState } from './files.ts'

/** `image`: by Compose. `chart`: by the Helm chart. */
export type Packaging = 'checkout' | 'image' | 'chart'

export type UpgradeData = {
  key: KeySource
  copies: DatabaseCopies
  now: () => Date
  /** The version that runs. */
  code: Code
  /** False: migrates without a backup. */
  hasBackup: boolean
  /** How Roost was installed: messages name its commands. */
  packaging: Packaging
  state(): Promise<MigrationState>
  /** Applies what is pending, and returns the names. */
  migrate(): Promise<string[]>
  progress(text: string): void
  freeBytes?: (folder: string) => Promise<number>
}

/** Data without a state file were last opened by this version or a checkout near it. */
const unrecorded = '0.1.0'

/**
 * Migrates the database, after a backup if it has data and lacks migrations. Records the version that did it. Only one
 * process may do this at a time. Throws `UpgradeError` before anything has changed.
 */
export async function upgradeData(options: UpgradeData): Promise<string[]> {
  const { key, code } = options
  const { dataDir } = key
  if (await readJournal(dataDir))
    throw new UpgradeError(
      `A rollback was interrupted. Run \`${commands[options.packaging].rollback}\` again to complete it.`,
    )
  const migrations = await options.state()
  const before = await readState(dataDir)
  const hasData = migrations.applied > 0
  if (!hasData || migrations.first_pending === null) {
    const applied = await options.migrate()
    const isSame = before !== null && sameCode(before.code, code)
    const isMigrated = hasData && before !== null && (await wasMigrated(dataDir, before, migrations.applied))
    if (isMigrated) await writeState(dataDir, { ...before, code, completed: true })
    else if (!isSame || !before.completed) await writeState(dataDir, next(before, code, null))
    return applied
  }
  const backup = options.hasBackup ? await backUp(options, before, migrations.applied) : null
  const state = backup?.state ?? {
    ...next(before, code, unknownCode),
    without_backup: true,
    // An attempt that failed may have applied some migrations.
    migrations: (before?.completed === false ? before.migrations : null) ?? migrations.applied,
  }
  await writeState(dataDir, { ...state, completed: false })
  // A migration that fails at every start must not fill the disk with backups of the same data.
  if (before && !before.completed && before.backup && state.backup && before.backup !== state.backup)
    await removeBackup(dataDir, before.backup)
  const applied = await options.migrate()
  await writeState(dataDir, { ...state, completed: true })
  await removeOldBackups(dataDir, 'upgrade', [state.backup])
  return applied
}

/** True after an upgrade that applied its migrations and was killed before it recorded that: its way back is valid. */
async function wasMigrated(dataDir: string, state: UpgradeState, migrations: number): Promise<boolean> {
  return !state.completed && !(await isUnchanged(dataDir, state, migrations))
}

/** True when no migration was applied since the upgrade began. Without the number in the state, its backup has it. */
async function isUnchanged(dataDir: string, state: UpgradeState, migrations: number): Promise<boolean> {
  if (state.migrations !== null) return state.migrations === migrations
  return state.backup !== null && (await isUnmigrated(dataDir, state.backup, migrations))
}

const unknownCode: Code = { version: unrecorded, commit: null, root: null }

function next(before: UpgradeState | null, code: Code, previous: Code | null): UpgradeState {
  return {
    code,
    previous: before?.code ?? previous,
    backup: null,
    without_backup: false,
    completed: true,
    migrations: null,
  }
}

/** Makes the backup, or reuses the one of an attempt that did not end. */
async function backUp(
  options: UpgradeData,
  before: UpgradeState | null,
  migrations: number,
): Promise<{ state: UpgradeState }> {
  const { key, copies, code, progress } = options
  const made = before && !before.completed ? before.backup : null
  const isThere = made !== null && (await listBackups(key.dataDir, 'upgrade')).includes(made)
  // Before the first migration the earlier release can have run again, and its data are not in that backup.
  const mustRepeat = made !== null && (await isUnmigrated(key.dataDir, made, migrations))
  if (before && isThere && !mustRepeat) {
    progress(`the backup ${made} of the interrupted upgrade is kept`)
    return { state: { ...before, code } }
  }
  progress('backing up the database')
  const previous = (before?.completed === false ? before.previous : before?.code) ?? unknownCode
  const name = await makeBackup({
    ...{ key, copies, now: options.now(), reason: 'upgrade', code: previous, state: before, migrations },
    ...(options.freeBytes ? { freeBytes: options.freeBytes } : {}),
  }).catch((cause: Error) => {
    throw new UpgradeError(
      `The backup before the upgrade failed, and nothing was changed: ${cause.message} ` +
        commands[options.packaging].onFailure,
      { cause },
    )
  })
  progress(
    `backup of ${previous.version}: ${name}. To go back, stop Roost and run ${commands[options.packaging].rollback}`,
  )
  return { state: { ...next(before, code, previous), previous, backup: name, migrations } }
}

/** The image of the platform has no `pg_dump`; the image for backups does. */
const commands: Record<Packaging, { rollback: string; onFailure: string }> = {
  checkout: {
    rollback: './roost rollback',
    onFailure: 'To upgrade without it, use `./roost up --without-backup` or ROOST_UPGRADE_BACKUP=false.',
  },
  image: {
    rollback: 'docker-compose run --rm backup rollback',
    onFailure:
      'Run `docker-compose run --rm backup migrate`, which has all programs for it. To upgrade without it, set ROOST_UPGRADE_BACKUP=false.',
  },
  chart: {
    rollback: `helm upgrade --set-json 'migrations.command=["rollback","--yes"]'`,
    onFailure:
      'The job for migrations has all programs for it. To upgrade without it, set migrations.backup=false.',
  },
}

function sameCode(a: Code, b: Code): boolean {
  return a.version === b.version && a.commit === b.commit && a.root === b.root
}
