import { createCipheriv, createECDH, ECDH, hkdfSync, randomBytes } from 'node:crypto'
import type { PushTarget } from './port.ts'

const recordSize = 4096
const tagBytes = 16
const saltBytes = 16
/** Texts are padded to this length, so that the length of the encrypted message reveals nothing. */
const paddedBytes = 2560

/**
 * Encrypts a text for one browser: RFC 8291 with the content encoding `aes128gcm` of RFC 8188, in one record. Throws
 * for keys of the browser that are not on the curve.
 */
export function encryptFor(
  { p256dh, auth }: Pick<PushTarget, 'p256dh' | 'auth'>,
  text: string,
  /** Tests pass the values of the standard's example. */
  chosen: { sender?: ECDH; salt?: Buffer; length?: number } = {},
): Buffer {
  const { sender = newSender(), salt = randomBytes(saltBytes), length = paddedBytes } = chosen
  const receiverKey = Buffer.from(p256dh, 'base64url')
  const senderKey = sender.getPublicKey()
  const shared = sender.computeSecret(receiverKey)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), receiverKey, senderKey])
  const input = derive(shared, Buffer.from(auth, 'base64url'), info, 32)
  const key = derive(input, salt, 'Content-Encoding: aes128gcm\0', 16)
  const nonce = derive(input, salt, 'Content-Encoding: nonce\0', 12)

  const plain = Buffer.from(text)
  // The delimiter 2 marks the last record; zeros follow.
  const padding = Buffer.alloc(Math.max(1, length - plain.length))
  padding[0] = 2
  const cipher = createCipheriv('aes-128-gcm', key, nonce, { authTagLength: tagBytes })
  const sealed = Buffer.concat([cipher.update(plain), cipher.update(padding), cipher.final()])

  const head = Buffer.alloc(5)
  head.writeUInt32BE(recordSize)
  head.writeUInt8(senderKey.length, 4)
  return Buffer.concat([salt, head, senderKey, sealed, cipher.getAuthTag()])
}

/** False if the key is not an uncompressed point on the curve P-256. */
export function isPoint(key: string): boolean {
  const point = Buffer.from(key, 'base64url')
  if (point.length !== 65) return false
  try {
    return ECDH.convertKey(point, 'prime256v1', undefined, 'hex', 'uncompressed') === point.toString('hex')
  } catch {
    return false
  }
}

function newSender(): ECDH {
  const sender = createECDH('prime256v1')
  sender.generateKeys()
  return sender
}

function derive(input: Buffer, salt: Buffer, info: string | Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', input, salt, info, length))
}
