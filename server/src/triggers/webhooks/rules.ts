import { createHash, createHmac } from 'node:crypto'
import { signedTimeTolerance } from '@roost/contracts/triggers/webhooks'
import { Fault } from '../../kit/fault.ts'
import { isSameSecret } from '../../kit/same-secret.ts'

const tokenPattern = /^[A-Za-z0-9_-]{43}$/

/** The hash for the lookup of a token; null for text that is not a token. */
export function tokenHash(token: string): string | null {
  return tokenPattern.test(token) ? sha256(token) : null
}

/** The key of a call without its own: the same body under the same token is the same call. */
export function derivedKey(token: string, body: Uint8Array): string | undefined {
  return body.length === 0 ? undefined : sha256(token, '\0', body)
}

export type Signed = {
  body: Uint8Array
  /** Value of `X-Svc-Signature`: `sha256=<hex>`. */
  signature: string | undefined
  /** Value of `X-Svc-Timestamp`, seconds since 1970. */
  time: string | undefined
}

/** Throws `invalid_signature`. With `signsTime`, time and body are signed together. */
export function checkSignature(
  { body, signature, time }: Signed,
  { secret, signsTime, now }: { secret: string; signsTime: boolean; now: Date },
): void {
  const received = /^sha256=([0-9a-f]{64})$/i.exec(signature?.trim() ?? '')?.[1]
  if (received === undefined) {
    throw new Fault('invalid_signature', 'This webhook needs the header X-Svc-Signature: sha256=<hex>.')
  }
  if (signsTime && !isNear(time, now)) {
    throw new Fault(
      'invalid_signature',
      `This webhook needs the header X-Svc-Timestamp, at most ${signedTimeTolerance} seconds off.`,
    )
  }
  const mac = createHmac('sha256', secret)
  if (signsTime) mac.update(`${time}.`)
  const expected = mac.update(body).digest()
  if (!isSameSecret(Buffer.from(received, 'hex'), expected)) throw new Fault('invalid_signature')
}

function isNear(time: string | undefined, now: Date): boolean {
  if (time === undefined || !/^\d{1,12}$/.test(time)) return false
  return Math.abs(Number(time) - now.getTime() / 1000) <= signedTimeTolerance
}

function sha256(...parts: (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
