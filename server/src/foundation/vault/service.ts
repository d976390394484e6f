import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { type KeySource, readKey } from './key-file.ts'

/**
 * Seals secrets. `context` names the purpose and owner of a text (`provider-key:anthropic`): sealed text that is moved
 * to another place does not open.
 */
export type Vault = {
  seal(plaintext: string, context: string): string
  /** Throws `VaultError` for another key or context, and for changed text. */
  open(sealed: string, context: string): string
  /** Identifies the key of this installation without revealing it. */
  readonly keyId: string
  /** Like `seal`, but returns the parts, for data outside the database. */
  sealBytes(plain: Buffer, context: string): SealedParts
  /** Throws `VaultError` like `open`. */
  openBytes(sealed: SealedParts, context: string): Buffer
  /** A keyed hash that only this installation can compute, for tokens that are checked without a database read. */
  mac(text: string, context: string): string
}

export type SealedParts = { nonce: Buffer; tag: Buffer; data: Buffer }

export class VaultError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'VaultError'
  }
}

/**
 * Opens the vault with the configured key, or with the key of the data folder, which the first start creates.
 * Throws `KeyFileError`.
 */
export function openVault(source: KeySource): Vault {
  return createVault(readKey(source))
}

/** `key` has 32 bytes. Sealed text is `v1.` plus nonce, tag and cipher text in base64url (AES-256-GCM). */
export function createVault(key: Buffer): Vault {
  // Raw bytes would be converted for every text, which takes longer than opening one.
  const sealKey = createSecretKey(key)
  // Derived, because a sealing key must have no other use.
  const macKey = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'roost.mac', 32)))
  const keyId = Buffer.from(hkdfSync('sha256', key, '', 'roost.key-id', 8)).toString('hex')

  function sealBytes(plain: Buffer, context: string): SealedParts {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, sealKey, nonce).setAAD(Buffer.from(context))
    const data = Buffer.concat([cipher.update(plain), cipher.final()])
    return { nonce, tag: cipher.getAuthTag(), data }
  }

  function openBytes({ nonce, tag, data }: SealedParts, context: string): Buffer {
    try {
      const decipher = createDecipheriv(algorithm, sealKey, nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(context))
        .setAuthTag(tag)
      return Buffer.concat([decipher.update(data), decipher.final()])
    } catch (cause) {
      throw new VaultError('Sealed text does not open: its key or context differs, or it was changed.', {
        cause,
      })
    }
  }

  return {
    keyId,
    sealBytes,
    openBytes,
    seal(plaintext, context) {
      const { nonce, tag, data } = sealBytes(Buffer.from(plaintext, 'utf8'), context)
      return version + Buffer.concat([nonce, tag, data]).toString('base64url')
    },
    mac: (text, context) => createHmac('sha256', macKey).update(`${context}\0${text}`).digest('base64url'),
    open(sealed, context) {
      const bytes = Buffer.from(sealed.slice(version.length), 'base64url')
      if (!sealed.startsWith(version) || bytes.length < nonceBytes + tagBytes) {
        throw new VaultError('This is not sealed text.')
      }
      const tagEnd = nonceBytes + tagBytes
      const parts = {
        nonce: bytes.subarray(0, nonceBytes),
        tag: bytes.subarray(nonceBytes, tagEnd),
        data: bytes.subarray(tagEnd),
      }
      return openBytes(parts, context).toString('utf8')
    },
  }
}

/** A vault for tests, with a random key that is not stored. */
export function createThrowawayVault(): Vault {
  return createVault(randomBytes(32))
}

const algorithm = 'aes-256-gcm'
const version = 'v1.'
const nonceBytes = 12
const tagBytes = 16
