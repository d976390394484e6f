import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Secret } from '../../kit/secret.ts'

export type KeySource = { encryptionKey: Secret | null; dataDir: string }

/** The key file is unusable; the message says what to do. */
export class KeyFileError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'KeyFileError'
  }
}

/** Returns the configured key, else the one of `<data>/encryption.key`, which is created when absent. */
export function readKey(source: KeySource): Buffer {
  const path = join(source.dataDir, 'encryption.key')
  return existingKey(source) ?? parse(create(path), path)
}

/** Like `readKey`, but returns null instead of creating a key. */
export function existingKey({ encryptionKey, dataDir }: KeySource): Buffer | null {
  if (encryptionKey) return Buffer.from(encryptionKey.reveal(), 'hex')
  const path = join(dataDir, 'encryption.key')
  const text = read(path)
  return text === null ? null : parse(text, path)
}

function parse(text: string, path: string): Buffer {
  if (!/^[0-9a-f]{64}\s*$/i.test(text)) {
    throw new KeyFileError(
      `${path} is not 32 bytes in hex. Put the right key back: nothing sealed opens without it.`,
    )
  }
  return Buffer.from(text.trim(), 'hex')
}

/**
 * The key that a rotation will switch to. It is written before the database changes, so that a killed rotation can be
 * completed, and replaces the key file afterwards.
 */
export function nextKey(dataDir: string) {
  const path = join(dataDir, 'encryption.key.next')
  return {
    /** Null: no rotation has begun, or it has ended. */
    read: (): Buffer | null => {
      const text = read(path)
      return text === null ? null : parse(text, path)
    },
    write(key: Buffer): void {
      rmSync(path, { force: true })
      writeDraft(path, key)
      flushFolder(dataDir)
    },
    /** Makes it the key of the installation. */
    promote(): void {
      renameSync(path, join(dataDir, 'encryption.key'))
      flushFolder(dataDir)
    },
  }
}

function writeDraft(path: string, key: Buffer): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, `${key.toString('hex')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** A new name is on disk only when its folder is. */
function flushFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function read(path: string): string | null {
  try {
    const { mode } = statSync(path)
    if ((mode & 0o077) !== 0) {
      throw new KeyFileError(`${path} can be read by others. Run: chmod 600 ${path}`)
    }
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** Safe for concurrent starts: only one process can create the link, and the others read its key. */
function create(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  writeDraft(draft, randomBytes(32))
  try {
    chmodSync(draft, 0o600)
    linkSync(draft, path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    unlinkSync(draft)
  }
  const key = read(path)
  if (key === null) throw new KeyFileError(`${path} was removed while it was created.`)
  return key
}
