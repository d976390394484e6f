import { randomBytes, scryptSync } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type KeySource, readKey } from './key-file.ts'
import { asSealed, createVault, type Vault, VaultError } from './service.ts'

/** Text sealed with a passphrase, with the parameters that opening needs. */
export type WithPassphrase = { kdf: 'scrypt'; cost: number; salt: string; sealed: string }

/** Of scrypt: one guess takes 64 MiB and a good part of a second. */
const cost = 2 ** 16

export function sealWith(passphrase: string, text: string, context: string): WithPassphrase {
  const salt = randomBytes(16)
  const sealed = vaultOf(passphrase, salt, cost).seal(text, context)
  return { kdf: 'scrypt', cost, salt: salt.toString('base64'), sealed }
}

/** Throws `VaultError` for a wrong passphrase or changed text. */
export function openWith(passphrase: string, sealedText: WithPassphrase, context: string): string {
  // Limits the memory that a foreign file can claim.
  if (sealedText.cost > 2 ** 17) throw new VaultError('This was not sealed by Roost.')
  return vaultOf(passphrase, Buffer.from(sealedText.salt, 'base64'), sealedText.cost).open(
    asSealed(sealedText.sealed),
    context,
  )
}

/** Seals the key of this installation with a passphrase. Throws `KeyFileError`. */
export function wrapKey(source: KeySource, passphrase: string): WithPassphrase {
  return sealWith(passphrase, readKey(source).toString('hex'), keyContext)
}

/** Throws `VaultError`. `keep` stores it as the key of an installation. */
export function unwrapKey(sealedText: WithPassphrase, passphrase: string) {
  const hex = openWith(passphrase, sealedText, keyContext)
  const key = Buffer.from(hex, 'hex')
  const { keyId } = createVault(key)
  return {
    /** See `Vault.keyId`. */
    keyId,
    /** True when the installation has no key, or this one. Throws `KeyFileError`. */
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
