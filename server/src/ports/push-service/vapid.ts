import { createECDH, createPrivateKey, sign } from 'node:crypto'
import type { VapidKeys } from './port.ts'

/** Push services accept at most 24 hours. */
const validSeconds = 12 * 3600

export function createVapidKeys(): VapidKeys {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return {
    publicKey: pair.getPublicKey('base64url'),
    // `getPrivateKey` omits leading zeros.
    privateKey: Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url'),
  }
}

/** Returns the `Authorization` header of RFC 8292: a signed token for the origin of the push service. */
export function vapidAuthorization(
  keys: VapidKeys,
  { origin, contact, now }: { origin: string; contact: string; now: Date },
): string {
  const claims = { aud: origin, exp: Math.floor(now.getTime() / 1000) + validSeconds, sub: contact }
  const text = `${encoded({ typ: 'JWT', alg: 'ES256' })}.${encoded(claims)}`
  const point = Buffer.from(keys.publicKey, 'base64url')
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: keys.privateKey,
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33, 65).toString('base64url'),
    },
  })
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `vapid t=${text}.${signature.toString('base64url')}, k=${keys.publicKey}`
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
