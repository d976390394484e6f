import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'
import { type KeySource, readKey } from './key-file.ts'

declare const sealedBrand: unique symbol
/**
 * The result of `seal`, and the type of its column. `open` takes nothing else, so every column with sealed text has
 * this type; a test compares these columns with those that the key rotation knows.
 */
export type SealedText = string & { readonly [sealedBrand]: true }

/**
 * Seals secrets. `context` names the purpose and owner of a text (`provider-key:anthropic`): sealed text that is moved
 * to another place does not open.
 */
export type Vault = {
  seal(plaintext: string, context: string): SealedText
  /** Throws `VaultError` for another key or context, and for changed text. */
  open(sealed: SealedText, context: string): string
  /** Identifies the key of this installation without revealing it. */
  readonly keyId: string
  /** Like `seal`, but returns the parts, for data outside the database. */
  sealBytes(plain: Buffer, context: string): SealedParts
  /** Throws `VaultError` like `open`. */
  openBytes(sealed: SealedParts, context: string): Buffer
  /** A keyed hash that only this installation can compute, for tokens that are checked without a database read. */
  mac(text: string, context: string): string
  /** Like `mac`, but with the retired keys: for hashes that must outlive a rotation of the key. */
  earlierMacs(text: string, context: string): string[]
  /** Like `earlierMacs`, for the tokens of turns that ran during a rotation: only for some hours after it. */
  earlierTurnMacs(text: string, context: string): string[]
  /** Opens data outside the database that a retired key sealed. Null for an unknown key. */
  retired(keyId: string): Pick<Vault, 'openBytes'> | null
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
export function openVault(source: KeySource, history?: KeyHistory): Vault {
  return createVault(readKey(source), history)
}

/** The keys before this one, newest first. */
export type KeyHistory = { retired: readonly RetiredKey[]; now: () => Date }
export type RetiredKey = { key: Buffer; turnsUntil: Date }

/** For text that `seal` made and that was stored outside the database. `open` still checks it. */
export function asSealed(text: string): SealedText {
  return text as SealedText
}

/** `key` has 32 bytes. Sealed text is `v1.` plus nonce, tag and cipher text in base64url (AES-256-GCM). */
export function createVault(key: Buffer, history?: KeyHistory): Vault {
  const earlier = (history?.retired ?? []).map((each) => ({ ...each, vault: createVault(each.key) }))
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
      return asSealed(version + Buffer.concat([nonce, tag, data]).toString('base64url'))
    },
    mac: (text, context) => createHmac('sha256', macKey).update(`${context}\0${text}`).digest('base64url'),
    earlierMacs: (text, context) => earlier.map(({ vault }) => vault.mac(text, context)),
    earlierTurnMacs: (text, context) =>
      earlier
        .filter(({ turnsUntil }) => history !== undefined && history.now() < turnsUntil)
        .map(({ vault }) => vault.mac(text, context)),
    retired: (keyId) => earlier.find(({ vault }) => vault.keyId === keyId)?.vault ?? null,
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
