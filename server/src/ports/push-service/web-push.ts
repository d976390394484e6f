import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import type { Locate } from '../../kit/addresses.ts'
import type { Clock } from '../../kit/clock.ts'
import { requestPinned } from '../../kit/pinned-request.ts'
import { encryptFor, isPoint } from './encrypt.ts'
import type { PushOutcome, PushService } from './port.ts'
import { createVapidKeys, vapidAuthorization } from './vapid.ts'

const timeoutMs = 10_000
const longestWaitSeconds = 3600

/** Web Push (RFC 8030). Endpoints come from browsers, so requests go only to addresses that `locate` allows. */
export function createWebPush({
  locate,
  baseUrl,
  clock,
}: {
  locate: Locate
  /** The public address of the platform, which names it to push services. */
  baseUrl: string
  clock: Pick<Clock, 'now'>
}): PushService {
  const contact = contactOf(new URL(baseUrl))
  const found = (url: URL) => locate(url.hostname, Number(url.port || 443))

  return {
    createKeys: createVapidKeys,

    async problemOf({ endpoint, p256dh }) {
      if (!isPoint(p256dh)) return 'invalid_key'
      const place = await found(new URL(endpoint))
      return !place.ok && place.fault === 'inner_address' ? 'inner_address' : null
    },

    async send(target, message, keys) {
      try {
        const url = new URL(target.endpoint)
        if (url.protocol !== 'https:') return { kind: 'refused', reason: 'The address is not https.' }
        const place = await found(url)
        if (!place.ok) {
          return place.fault === 'inner_address'
            ? { kind: 'refused', reason: 'The push service has a private address.' }
            : { kind: 'failed', reason: 'The push service cannot be found.', afterSeconds: null }
        }
        const body = encryptFor(target, message.payload)
        const response = await requestPinned(target.endpoint, {
          addresses: place.addresses,
          method: 'POST',
          headers: {
            authorization: vapidAuthorization(keys, { origin: url.origin, contact, now: clock.now() }),
            'content-encoding': 'aes128gcm',
            'content-type': 'application/octet-stream',
            'content-length': String(body.length),
            ttl: String(message.ttlSeconds),
            topic: message.topic,
            urgency: message.urgency,
          },
          body: Readable.from([body]),
          signal: AbortSignal.timeout(timeoutMs),
        })
        // The body says nothing that the platform needs, and a hostile service could make it endless.
        response.destroy()
        return outcomeOf(response.statusCode ?? 0, response.headers, clock.now())
      } catch (error) {
        return { kind: 'failed', reason: reasonOf(error), afterSeconds: null }
      }
    },
  }
}

function outcomeOf(status: number, headers: IncomingHttpHeaders, now: Date): PushOutcome {
  if (status >= 200 && status < 300) return { kind: 'accepted' }
  if (status === 404 || status === 410) return { kind: 'gone' }
  const reason = `The push service answered with status ${status}.`
  if (status === 429 || status >= 500)
    return { kind: 'failed', reason, afterSeconds: waitOf(headers['retry-after'], now) }
  return { kind: 'refused', reason }
}

/** `Retry-After` has seconds or a date. */
function waitOf(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now.getTime()) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), 1), longestWaitSeconds) : null
}

/** Push services contact this address about misuse. Some refuse one that is not public. */
function contactOf({ protocol, origin, hostname }: URL): string {
  return protocol === 'https:' ? origin : `mailto:push@${hostname}`
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : null
  if (error instanceof Error && error.name === 'AbortError') return 'The push service did not answer in time.'
  return code === null
    ? 'The push service cannot be reached.'
    : `The push service cannot be reached (${code}).`
}
