import { randomBytes, scryptSync } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type KeySource, readKey } from './key-file.ts'
import { createVault, type Vault, VaultError } from './seal.ts'

/** Text that opens with a passphrase; all that is needed besides is in it. */
export type WithPassphrase = { kdf: 'scrypt'; cost: number; salt: string; sealed: string }

/** A guess costs 64 MiB and a good part of a second. */
const cost = 2 ** 16

export function sealWith(passphrase: string, text: string, context: string): WithPassphrase {
  const salt = randomBytes(16)
  const sealed = vaultOf(passphrase, salt, cost).seal(text, context)
  return { kdf: 'scrypt', cost, salt: salt.toString('base64'), sealed }
}

/** Throws `VaultError` for another passphrase, and for text that was changed. */
export function openWith(passphrase: string, given: WithPassphrase, context: string): string {
  // What the file asks for is bounded: it may come from anywhere.
  if (given.cost > 2 ** 17) throw new VaultError('This was not sealed by Roost.')
  return vaultOf(passphrase, Buffer.from(given.salt, 'base64'), given.cost).open(given.sealed, context)
}

/** The key of this installation, for whoever knows the passphrase. Throws `KeyFileError`. */
export function wrapKey(source: KeySource, passphrase: string): WithPassphrase {
  return sealWith(passphrase, readKey(source).toString('hex'), keyContext)
}

/** Throws `VaultError`. `keep` makes it the key of an installation. */
export function unwrapKey(given: WithPassphrase, passphrase: string) {
  const hex = openWith(passphrase, given, keyContext)
  const key = Buffer.from(hex, 'hex')
  const { keyId } = createVault(key)
  return {
    /** As `Vault.keyId`. */
    keyId,
    /** Whether the installation can have it: it has none of its own, or this one. Throws `KeyFileError`. */
    fits: (source: KeySource) => !hasKey(source) || createVault(readKey(source)).keyId === keyId,
    keep(source: KeySource): void {
      if (hasKey(source)) return
      mkdirSync(source.dataDir, { recursive: true, mode: 0o700 })
      const file = openSync(keyPath(source), 'wx', 0o600)
      try {
        writeSync(file, `${hex}\n`)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
    },
  }
}

const keyContext = 'backup:encryption-key'

function keyPath({ dataDir }: KeySource): string {
  return join(dataDir, 'encryption.key')
}

function hasKey(source: KeySource): boolean {
  return source.encryptionKey !== null || existsSync(keyPath(source))
}

function vaultOf(passphrase: string, salt: Buffer, N: number): Vault {
  return createVault(scryptSync(passphrase, salt, 32, { N, r: 8, p: 1, maxmem: 256 * N * 8 }))
}
