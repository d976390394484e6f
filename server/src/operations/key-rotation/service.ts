import { createHash, randomBytes } from 'node:crypto'
import { recordKey } from '../../foundation/installation/index.ts'
import {
  createVault,
  type KeySource,
  nextKey,
  readKey,
  retire,
  type SealedColumn,
  settleRotation,
  type Vault,
  VaultError,
} from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { holdStarts, otherUser, removeReplaced, replaceSealed, sealedRows } from './store.ts'

/** The key was not rotated and nothing was changed; the message says why. */
export class RotationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RotationError'
  }
}

export type RotateKey = {
  db: Db
  clock: Pick<Clock, 'now'>
  source: KeySource
  /** Required when the environment has the key; otherwise null makes a random one. */
  newKey: Secret | null
  columns: readonly SealedColumn[]
  /** False ends the tokens of turns that are running. */
  mayTurnsContinue: boolean
  /** True leaves values that do not open as they are. */
  mayKeepUnreadable: boolean
  progress(text: string): void
}

export type Rotated = {
  /** Completed: an earlier rotation had only to replace the key file, and no new one was made. */
  result: 'rotated' | 'completed'
  values: number
  /** Values that do not open and were left unchanged. */
  unreadable: string[]
}

/** Values that an error lists before it only counts. */
const maxListed = 20

/**
 * Seals every value with a new key, in one transaction, and then replaces the key file. The platform must be stopped.
 * Throws `RotationError` and `KeyFileError`.
 */
export async function rotateKey(options: RotateKey): Promise<Rotated> {
  const { db, clock, source, columns, progress } = options
  if (await settleRotation(db, source)) return { result: 'completed', values: 0, unreadable: [] }
  const from = readKey(source)
  const to = desiredKey(options, from)
  const file = source.encryptionKey ? null : nextKey(source.dataDir)
  const rotated = await db.atomically(async (tx) => {
    await holdStarts(tx, db)
    const user = await otherUser(tx, db, timestamp(clock.now()))
    if (user !== null)
      throw new RotationError(`The database is in use: ${user}. Stop the platform on every machine.`)
    await retire(tx, { from, to, now: clock.now(), mayTurnsContinue: options.mayTurnsContinue })
    // Before the commit, so that the new key never exists in memory alone; after `retire`, which fails in a second
    // rotation at the same time.
    file?.write(to)
    const vaults = { before: createVault(from), after: createVault(to) }
    await recordKey(tx, vaults.after.keyId)
    const result = { result: 'rotated' as const, values: 0, unreadable: [] as string[] }
    let unreadable = 0
    for (const column of columns) {
      progress(`${column.table}.${column.column}`)
      const found = await reseal(tx, column, vaults)
      result.values += found.values
      unreadable += found.unreadableCount
      result.unreadable.push(...found.unreadable.slice(0, maxListed - result.unreadable.length))
    }
    if (unreadable > 0 && !options.mayKeepUnreadable) throw unreadableError(result.unreadable, unreadable)
    return result
  })
  file?.promote()
  await removeReplaced(db).catch((error: Error) =>
    progress(`The new key is in use, but the file of the database still has replaced text: ${error.message}`),
  )
  return rotated
}

function desiredKey({ source, newKey }: RotateKey, from: Buffer): Buffer {
  if (newKey === null && source.encryptionKey)
    throw new RotationError(
      'ROOST_ENCRYPTION_KEY is set, so set ROOST_NEW_ENCRYPTION_KEY to the new key: openssl rand -hex 32',
    )
  if (newKey === null) return randomBytes(32)
  if (!/^[0-9a-f]{64}$/i.test(newKey.reveal()))
    throw new RotationError('ROOST_NEW_ENCRYPTION_KEY must be 32 bytes in hex (64 digits).')
  const key = Buffer.from(newKey.reveal(), 'hex')
  if (key.equals(from))
    throw new RotationError('ROOST_NEW_ENCRYPTION_KEY is the key that is in use already. Give a new one.')
  return key
}

/** False if none of the stored values that are tried opens, one of each column. True without any value. */
export async function opensSecrets(db: Db, vault: Vault, columns: readonly SealedColumn[]): Promise<boolean> {
  let isEmpty = true
  for (const column of columns) {
    const [first] = (await sealedRows(db, column).next()).value ?? []
    if (first && opened(vault, first.sealed, first.context) !== null) return true
    isEmpty &&= first === undefined
  }
  return isEmpty
}

type Vaults = { before: Vault; after: Vault }

/** Seals the values of a column anew, reads them back, and compares both passes. */
async function reseal(tx: Tx, column: SealedColumn, { before, after }: Vaults) {
  const [read, written] = [createDigest(), createDigest()]
  const unreadable: string[] = []
  let unreadableCount = 0
  for await (const rows of sealedRows(tx, column)) {
    const fresh = rows.flatMap(({ key, context, sealed }) => {
      const plain = opened(before, sealed, context) ?? ownPlain(column, after, sealed, context)
      if (plain === null) {
        unreadableCount += 1
        if (unreadable.length < maxListed) unreadable.push(nameOf(column, key))
        return []
      }
      read.add(key, plain)
      return [{ key, sealed: after.seal(plain, context) }]
    })
    await replaceSealed(tx, column, fresh)
  }
  for await (const rows of sealedRows(tx, column))
    for (const { key, context, sealed } of rows) {
      const plain = opened(after, sealed, context)
      if (plain !== null) written.add(key, plain)
    }
  if (read.text() !== written.text())
    throw new RotationError(
      `The values of ${column.table}.${column.column} differ after sealing: nothing was changed.`,
    )
  return { values: read.count(), unreadable, unreadableCount }
}

/** The row of the old key was just written in this transaction, with the new key. */
function ownPlain(column: SealedColumn, after: Vault, ...value: Parameters<Vault['open']>): string | null {
  return column.table === 'retired_keys' ? opened(after, ...value) : null
}

function opened(vault: Vault, ...value: Parameters<Vault['open']>): string | null {
  try {
    return vault.open(...value)
  } catch (error) {
    if (error instanceof VaultError) return null
    throw error
  }
}

function nameOf({ table, column }: SealedColumn, key: Record<string, string>): string {
  const id = Object.entries(key).map(([name, value]) => `${name} ${value}`)
  return `${table}.${column} of ${id.join(', ')}`
}

function unreadableError(names: string[], count: number): RotationError {
  const more = count > names.length ? [`and ${count - names.length} more`] : []
  return new RotationError(
    [
      `${count} values do not open with the current key. Nothing was changed.`,
      ...names.map((name) => `  ${name}`),
      ...more,
      'Enter them again in the platform, or repeat with --keep-unreadable, which leaves them as they are.',
    ].join('\n'),
  )
}

/** Count and checksum of values in any order: the sum of their SHA-256. */
function createDigest() {
  let count = 0
  let sum = 0n
  return {
    add(key: Record<string, string>, plain: string) {
      const digest = createHash('sha256')
        .update(JSON.stringify([key, plain]))
        .digest('hex')
      count += 1
      sum = BigInt.asUintN(256, sum + BigInt(`0x${digest}`))
    },
    count: () => count,
    text: () => `${count} ${sum}`,
  }
}
