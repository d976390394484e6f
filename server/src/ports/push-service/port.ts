/** One browser of a person, as it subscribed at its vendor's push service. Keys are base64url. */
export type PushTarget = {
  /** The address at the push service: https, chosen by the browser. */
  endpoint: string
  /** The browser's public key: 65 bytes, an uncompressed point on P-256. */
  p256dh: string
  /** 16 bytes. */
  auth: string
}

export type PushMessage = {
  /** At most `maxPayloadBytes`; only the browser can read it. */
  payload: string
  /** How long the push service keeps the message for a browser that is offline. */
  ttlSeconds: number
  /** A later message replaces an undelivered one with the same topic: at most 32 base64url characters. */
  topic: string
  urgency: 'normal' | 'high'
}

/** The pair that identifies this installation to push services (RFC 8292). Keys are base64url. */
export type VapidKeys = { publicKey: string; privateKey: string }

export type PushOutcome =
  | { kind: 'accepted' }
  /** The subscription has ended and will never work again. */
  | { kind: 'gone' }
  /** This message will not be accepted later either. */
  | { kind: 'refused'; reason: string }
  /** `afterSeconds`: the wait that the push service asks for, if any. */
  | { kind: 'failed'; reason: string; afterSeconds: number | null }

export type PushService = {
  createKeys(): VapidKeys
  /** Sends one message. Never rejects: every failure is an outcome. */
  send(target: PushTarget, message: PushMessage, keys: VapidKeys): Promise<PushOutcome>
  /** Why `send` would always refuse the target: its host has a private address, or its key is not on the curve. */
  problemOf(target: PushTarget): Promise<'inner_address' | 'invalid_key' | null>
}

/** Push services accept 4096 bytes with the encryption's own. */
export const maxPayloadBytes = 2048
