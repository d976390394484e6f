import { secondsLater, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { existingKey, KeyFileError, type KeySource, nextKey } from './key-file.ts'
import type { SealedColumn } from './sealed-column.ts'
import { createVault, type KeyHistory, type Vault } from './service.ts'
import { hasRetiredKeys, retiredKeyStore } from './store.ts'

/** Longer than any turn may take. */
const turnGraceSeconds = 24 * 3600

const contextOf = (keyId: string) => `retired-key:${keyId}`

/** Reads the former keys. `vault` has the current one. */
export async function readKeyHistory(
  db: Db,
  vault: Pick<Vault, 'open'>,
  now: () => Date,
): Promise<KeyHistory> {
  const rows = await retiredKeyStore(db).all()
  const retired = rows.map(({ key_id, key_sealed, turns_until }) => ({
    key: Buffer.from(vault.open(key_sealed, contextOf(key_id)), 'hex'),
    turnsUntil: new Date(turns_until),
  }))
  return { retired, now }
}

type Retirement = { from: Buffer; to: Buffer; now: Date; mayTurnsContinue: boolean }

/** Records `from` as retired, in the transaction that seals every value with `to`. */
export async function retire(tx: Tx, { from, to, now, mayTurnsContinue }: Retirement): Promise<void> {
  const [before, after] = [createVault(from), createVault(to)]
  const store = retiredKeyStore(tx)
  const at = timestamp(now)
  await store.insert({
    key_id: before.keyId,
    key_sealed: after.seal(from.toString('hex'), contextOf(before.keyId)),
    successor_id: after.keyId,
    retired_at: at,
    turns_until: timestamp(secondsLater(now, turnGraceSeconds)),
  })
  if (!mayTurnsContinue) await store.endTurns(at)
}

/**
 * Completes a rotation that was killed between the commit and the change of the key file. Call it before the key is
 * used. Throws `KeyFileError` if the configured key is a retired one. True: the key file was changed.
 */
export async function settleRotation(db: Db, source: KeySource): Promise<boolean> {
  if (!(await hasRetiredKeys(db))) return false
  const current = idOf(source)
  if (current === null) return false
  const retired = await retiredKeyStore(db).find(current)
  if (retired === null) return false
  const next = source.encryptionKey ? null : nextKey(source.dataDir)
  const key = next?.read()
  if (next && key && createVault(key).keyId === retired.successor_id) {
    next.promote()
    return true
  }
  // Another process can have completed it meanwhile.
  if (idOf(source) !== current) return false
  const name = source.encryptionKey ? 'ROOST_ENCRYPTION_KEY' : `${source.dataDir}/encryption.key`
  throw new KeyFileError(
    `${name} is a key that was rotated at ${retired.retired_at}. Set the new key there; ` +
      'see docs/operate/key-rotation.md.',
  )
}

function idOf(source: KeySource): string | null {
  const key = existingKey(source)
  return key && createVault(key).keyId
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'retired_keys',
    column: 'key_sealed',
    key: ['key_id'],
    context: ({ key_id = '' }) => contextOf(key_id),
  },
]
