import { join } from 'node:path'
import type { KeySource } from '../../foundation/vault/index.ts'
import type { DatabaseCopies } from '../../ports/database-copies/port.ts'
import {
  keyIdOf,
  makeBackup,
  readBackup,
  readKeyFile,
  removeOldBackups,
  type StoredBackup,
  UpgradeError,
} from './backups.ts'
import {
  type Code,
  type Journal,
  readJournal,
  readState,
  writeJournal,
  writeState,
  writeWhole,
} from './files.ts'

export type RollbackSource = { key: KeySource; copies: DatabaseCopies }

export type RollbackPlan = {
  /** The version that runs now. */
  from: Code
  /** The version to return to. */
  to: Code
  /** Name and time of the backup; null when the data stay as they are. */
  backup: { name: string; created_at: string } | null
  /** True: a rollback has begun and is continued. */
  is_resumed: boolean
  /** Name of the backup of the replaced data, once it exists. */
  aside: string | null
}

/**
 * Finds and verifies what a rollback restores: the state before the last upgrade, or the backup `name`. Throws
 * `UpgradeError` when that is impossible.
 */
export async function planRollback(
  { key, copies }: RollbackSource,
  running: Code,
  name: string | null,
): Promise<RollbackPlan> {
  const journal = await readJournal(key.dataDir)
  const state = await readState(key.dataDir)
  const from = state?.code ?? running
  if (journal) {
    if (name !== null && name !== journal.backup)
      throw new UpgradeError(`The rollback to ${journal.backup} was interrupted. Complete it first.`)
    const created = journal.backup ? (await readBackup(key.dataDir, journal.backup, copies)).manifest : null
    const backup = journal.backup && created ? { name: journal.backup, created_at: created.created_at } : null
    return { from, to: journal.code, backup, is_resumed: true, aside: journal.aside }
  }
  const isKnown =
    !state?.code.commit || [state.code, state.previous].some((each) => each?.commit === running.commit)
  // This code has not opened the data yet, so going back changes only the code.
  if (state && name === null && !isKnown)
    return { from: running, to: state.code, backup: null, is_resumed: false, aside: null }
  const chosen = name ?? state?.backup ?? null
  if (chosen === null) {
    if (!state?.previous)
      throw new UpgradeError('There is no upgrade to go back from: no earlier version is recorded.')
    if (state.without_backup)
      throw new UpgradeError('The last upgrade ran without a backup. Restore one with `./roost restore`.')
    return { from, to: state.previous, backup: null, is_resumed: false, aside: null }
  }
  const stored = await readBackup(key.dataDir, chosen, copies)
  await refuseOtherKey(key, stored)
  const backup = { name: chosen, created_at: stored.manifest.created_at }
  return { from, to: stored.manifest.code, backup, is_resumed: false, aside: null }
}

/** A key in the environment cannot be replaced here. */
async function refuseOtherKey(key: KeySource, { manifest }: StoredBackup): Promise<void> {
  const current = keyIdOf(key, (await readKeyFile(key)) !== null)
  const isSame = manifest.key_id === null || manifest.key_id === current
  if (isSame || (manifest.has_key_file && !key.encryptionKey)) return
  throw new UpgradeError(
    `The backup of ${manifest.created_at} needs another encryption key. Set ROOST_ENCRYPTION_KEY to that key.`,
  )
}

export type RollBackData = RollbackSource & {
  plan: RollbackPlan
  now: Date
  progress(text: string): void
}

/**
 * Restores the data of a plan and keeps the replaced ones as a backup, whose name it returns (null: no data change).
 * After a kill it can be repeated at any point. The caller changes the code next and deletes the journal then.
 */
export async function rollBackData({
  key,
  copies,
  plan,
  now,
  progress,
}: RollBackData): Promise<string | null> {
  const { dataDir } = key
  const journal = (await readJournal(dataDir)) ?? (await begin({ key, copies, plan, now, progress }))
  if (journal.phase === 'replace' && journal.backup !== null) {
    const stored = await readBackup(dataDir, journal.backup, copies)
    progress('restoring the database')
    await copies.replaceWith(stored.database)
    if (stored.key && !key.encryptionKey) await writeWhole(join(dataDir, 'encryption.key'), stored.key)
  }
  if (journal.phase === 'replace') {
    const before = await readState(dataDir)
    const manifest = journal.backup ? (await readBackup(dataDir, journal.backup, copies)).manifest : null
    // A repeated command must not go back further, so the state of an undone upgrade has no way back.
    const final = {
      ...{ code: journal.code, previous: null, backup: null, without_backup: false },
      ...{ completed: true, migrations: null },
    }
    const isUnopened =
      before !== null && journal.backup === null && before.code.commit === journal.code.commit
    if (!isUnopened) await writeState(dataDir, manifest?.reason === 'rollback' ? manifest.state : final)
    await writeJournal(dataDir, { ...journal, phase: 'code' })
  }
  // A repeated command reads the restored one again.
  await removeOldBackups(dataDir, 'rollback', [journal.aside, journal.backup])
  return journal.aside
}

async function begin({ key, copies, plan, now, progress }: RollBackData): Promise<Journal> {
  const { dataDir } = key
  let aside: string | null = null
  if (plan.backup) {
    progress('backing up the present database')
    const state = await readState(dataDir)
    aside = await makeBackup({
      ...{ key, copies, now, reason: 'rollback', code: plan.from, state, migrations: null },
    })
  }
  const journal: Journal = {
    backup: plan.backup?.name ?? null,
    code: plan.to,
    aside,
    phase: 'replace',
  }
  await writeJournal(dataDir, journal)
  return journal
}
