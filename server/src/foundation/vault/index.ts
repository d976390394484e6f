import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { type KeySource, readKey } from './key-file.ts'

/**
 * Seals what the database must not hold in plain text. The key never leaves this feature. `context` says
 * what the text is and for whom (`provider-key:anthropic`): sealed text moved elsewhere does not open.
 */
export type Vault = {
  seal(plaintext: string, context: string): string
  /** Throws `VaultError` when it was sealed with another key or context, or was changed. */
  open(sealed: string, context: string): string
  /** A keyed hash that only this installation can make: for tokens that are checked without a look-up. */
  mac(text: string, context: string): string
}

export class VaultError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'VaultError'
  }
}

/**
 * Opens the vault with the configured key, or with the one in the data folder, which is made at the first
 * start. Throws `KeyFileError`.
 */
export function openVault(source: KeySource): Vault {
  return createVault(readKey(source))
}

/** `key` has 32 bytes. Sealed text is `v1.` and nonce, tag and cipher text in base64url (AES-256-GCM). */
export function createVault(key: Buffer): Vault {
  // A key of its own: the one that seals does nothing else.
  const macKey = Buffer.from(hkdfSync('sha256', key, '', 'roost.mac', 32))
  return {
    seal(plaintext, context) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context))
      const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return version + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    mac: (text, context) => createHmac('sha256', macKey).update(`${context}\0${text}`).digest('base64url'),
    open(sealed, context) {
      const bytes = Buffer.from(sealed.slice(version.length), 'base64url')
      if (!sealed.startsWith(version) || bytes.length < nonceBytes + tagBytes) {
        throw new VaultError('This is not sealed text.')
      }
      const tagEnd = nonceBytes + tagBytes
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(nonceBytes, tagEnd))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString('utf8')
      } catch (cause) {
        throw new VaultError('Sealed text does not open: another key, another place, or changed.', { cause })
      }
    },
  }
}

/** A vault for tests, with a key that is forgotten. */
export function createThrowawayVault(): Vault {
  return createVault(randomBytes(32))
}

export { KeyFileError } from './key-file.ts'

const algorithm = 'aes-256-gcm'
const version = 'v1.'
const nonceBytes = 12
const tagBytes = 16
