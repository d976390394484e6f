import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { existingKey, type KeySource, openVault, type Vault } from '../vault/index.ts'
import { hasInstallation, type InstallationRow, installationStore } from './store.ts'

/** This process has another key or id than the installation of its database. The message says what to copy. */
export class ForeignProcess extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ForeignProcess'
  }
}

export type JoinInstallation = {
  db: Db
  clock: Pick<Clock, 'now'>
  source: KeySource
  installId: string
  /** False if a stored secret does not open with the key. Asked only where no process was recorded before. */
  opensSecrets(vault: Vault): Promise<boolean>
}

/** Records the first process of a database, and compares every other one with it. Throws `ForeignProcess`. */
export async function joinInstallation(options: JoinInstallation): Promise<void> {
  const { db, clock, source, installId, opensSecrets } = options
  const vault = openVault(source)
  const store = installationStore(db)
  let row = await store.find()
  if (!row) {
    if (!(await opensSecrets(vault))) throw foreignKey(source)
    await store.insertOnce({
      install_id: installId,
      key_id: vault.keyId,
      recorded_at: timestamp(clock.now()),
    })
    row = await store.find()
  }
  if (row) compare(row, { source, keyId: vault.keyId, installId })
}

/**
 * Like `joinInstallation`, but records nothing and works before the migrations. A key or id (null) that does not exist
 * yet is not compared. Returns false if the database names no installation. Throws `ForeignProcess`.
 */
export async function refuseForeign(
  db: Db,
  source: KeySource,
  installId: string | null = null,
): Promise<boolean> {
  const row = (await hasInstallation(db)) ? await installationStore(db).find() : null
  if (!row) return false
  const keyId = existingKey(source) === null ? row.key_id : openVault(source).keyId
  compare(row, { source, keyId, installId: installId ?? row.install_id })
  return true
}

/** For a rotation, in the transaction that seals every value with the new key. */
export async function recordKey(tx: Tx, keyId: string): Promise<void> {
  await installationStore(tx).setKey(keyId)
}

type Process = { source: KeySource; keyId: string; installId: string }

function compare(row: InstallationRow, { source, keyId, installId }: Process): void {
  if (row.key_id !== keyId) throw foreignKey(source)
  if (row.install_id !== installId)
    throw new ForeignProcess(
      `${source.dataDir}/install-id is ${installId}, but the database belongs to the installation ${row.install_id}. ${whatToCopy(source)}`,
    )
}

function foreignKey(source: KeySource): ForeignProcess {
  const name = source.encryptionKey ? 'ROOST_ENCRYPTION_KEY' : `${source.dataDir}/encryption.key`
  return new ForeignProcess(
    `${name} is not the key of this database. ${whatToCopy(source)} ` +
      'If the key is lost, `roost rotate-key --keep-unreadable` continues without the secrets that it sealed.',
  )
}

function whatToCopy({ encryptionKey, dataDir }: KeySource): string {
  return encryptionKey
    ? `On every machine set ROOST_ENCRYPTION_KEY to the key of the installation, and copy install-id of a machine that runs it to ${dataDir}.`
    : `Copy encryption.key and install-id from the data folder of a machine that runs it to ${dataDir}, and replace the files there.`
}
