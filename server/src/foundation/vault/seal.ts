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
 * Seals what the database must not hold in plain text. The key never leaves this feature. `context` says
 * what the text is and for whom (`provider-key:anthropic`): sealed text moved elsewhere does not open.
 */
export type Vault = {
  seal(plaintext: string, context: string): string
  /** Throws `VaultError` when it was sealed with another key or context, or was changed. */
  open(sealed: string, context: string): string
  /** Tells this installation's key from another one's, and nothing more. */
  readonly keyId: string
  /** As `seal`, in its parts, for what leaves the database. */
  sealBytes(plain: Buffer, context: string): SealedParts
  /** Throws `VaultError` as `open` does. */
  openBytes(sealed: SealedParts, context: string): Buffer
  /** A keyed hash that only this installation can make: for tokens that are checked without a look-up. */
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
 * Opens the vault with the configured key, or with the one in the data folder, which is made at the first
 * start. Throws `KeyFileError`.
 */
export function openVault(source: KeySource): Vault {
  return createVault(readKey(source))
}

/** `key` has 32 bytes. Sealed text is `v1.` and nonce, tag and cipher text in base64url (AES-256-GCM). */
export function createVault(key: Buffer): Vault {
  // Bytes would be made such an object again for each text, which costs more than to open it.
  const sealKey = createSecretKey(key)
  // A key of its own: the one that seals does nothing else.
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
      throw new VaultError('Sealed text does not open: another key, another place, or changed.', { cause })
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

/** A vault for tests, with a key that is forgotten. */
export function createThrowawayVault(): Vault {
  return createVault(randomBytes(32))
}

const algorithm = 'aes-256-gcm'
const version = 'v1.'
const nonceBytes = 12
const tagBytes = 16
