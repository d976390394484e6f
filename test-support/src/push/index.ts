/**
 * A push service for tests: takes Web Push messages over TLS on a free loopback port, checks who sent them (RFC 8292)
 * and decrypts them as a browser does (RFC 8291). Written from the standards, independent of the platform's code.
 */
import {
  createDecipheriv,
  createECDH,
  createHmac,
  createPublicKey,
  type ECDH,
  randomBytes,
  verify,
} from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type ReceivedPush = {
  /** The text as the service worker gets it. */
  text: string
  ttl: number
  topic: string | undefined
  urgency: string | undefined
  /** The public key of the sender, base64url. */
  sender: string
  contact: string
  /** Bytes of the encrypted message. */
  length: number
}

export type BrowserSubscription = {
  endpoint: string
  keys: { p256dh: string; auth: string }
  readonly received: readonly ReceivedPush[]
  /** Answers the next messages with these statuses, in order. */
  answer(...statuses: { status: number; headers?: Record<string, string> }[]): void
  /** Number of requests, accepted or not. */
  readonly attempts: number
}

export type PushServer = {
  /** `localhost:port`, for the certificate and the platform's configuration. */
  at: string
  /** A browser that subscribes. */
  subscribe(): BrowserSubscription
  /** Resolves when the subscription has received so many messages. */
  waitFor(subscription: BrowserSubscription, count: number): Promise<readonly ReceivedPush[]>
  /** Messages that were refused because they broke a standard. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

type Browser = {
  pair: ECDH
  auth: Buffer
  received: ReceivedPush[]
  answers: { status: number; headers?: Record<string, string> }[]
  attempts: number
}

export async function startPushServer(tls: { key: string; cert: string }): Promise<PushServer> {
  const browsers = new Map<string, Browser>()
  const faults: string[] = []
  const watchers = new Set<() => void>()
  const server = createServer(tls, (request, response) => {
    take(request, response).catch((error: unknown) => {
      faults.push(error instanceof Error ? error.message : String(error))
      response.writeHead(400).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const at = `localhost:${(server.address() as AddressInfo).port}`

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const browser = browsers.get(request.url ?? '')
    if (!browser) return void response.writeHead(404).end()
    browser.attempts += 1
    const answer = browser.answers.shift() ?? { status: 201 }
    if (answer.status < 300) browser.received.push(read(request, body, browser))
    response.writeHead(answer.status, answer.headers).end()
    for (const watcher of watchers) watcher()
  }

  function read({ headers, method }: IncomingMessage, body: Buffer, browser: Browser): ReceivedPush {
    if (method !== 'POST') throw new Error(`a message has the method ${method}`)
    if (headers['content-encoding'] !== 'aes128gcm') throw new Error('a message is not aes128gcm')
    if (body.length > 4096) throw new Error('a message is longer than 4096 bytes')
    const ttl = Number(headers.ttl)
    if (!Number.isInteger(ttl)) throw new Error('a message has no TTL')
    const topic = headers.topic === undefined ? undefined : String(headers.topic)
    if (topic !== undefined && !/^[\w-]{1,32}$/.test(topic)) throw new Error('the topic is not valid')
    return {
      text: decrypt(body, browser),
      ttl,
      topic,
      urgency: headers.urgency === undefined ? undefined : String(headers.urgency),
      ...senderOf(headers.authorization ?? '', `https://${at}`),
      length: body.length,
    }
  }

  return {
    at,
    faults,
    subscribe() {
      const pair = createECDH('prime256v1')
      pair.generateKeys()
      const path = `/send/${randomBytes(32).toString('base64url')}`
      const browser: Browser = { pair, auth: randomBytes(16), received: [], answers: [], attempts: 0 }
      browsers.set(path, browser)
      return {
        endpoint: `https://${at}${path}`,
        keys: { p256dh: pair.getPublicKey('base64url'), auth: browser.auth.toString('base64url') },
        received: browser.received,
        answer: (...answers) => void browser.answers.push(...answers),
        get attempts() {
          return browser.attempts
        },
      }
    },
    waitFor(subscription, count) {
      const { promise, resolve } = Promise.withResolvers<readonly ReceivedPush[]>()
      const check = () => {
        if (subscription.received.length < count) return
        watchers.delete(check)
        resolve(subscription.received)
      }
      watchers.add(check)
      check()
      return promise
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const mac = (key: Buffer, ...parts: (Buffer | string)[]) => {
  const hash = createHmac('sha256', key)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** RFC 8188 with the keys of RFC 8291, section 3.4. Throws if the text was not encrypted for this browser. */
function decrypt(body: Buffer, { pair, auth }: Browser): string {
  const salt = body.subarray(0, 16)
  const keyLength = body.readUInt8(20)
  const sender = body.subarray(21, 21 + keyLength)
  const sealed = body.subarray(21 + keyLength)
  const combined = mac(auth, pair.computeSecret(sender))
  const input = mac(combined, 'WebPush: info\0', pair.getPublicKey(), sender, '\x01')
  const salted = mac(salt, input)
  const key = mac(salted, 'Content-Encoding: aes128gcm\0', '\x01').subarray(0, 16)
  const nonce = mac(salted, 'Content-Encoding: nonce\0', '\x01').subarray(0, 12)
  const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16))
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
  const end = plain.findLastIndex((byte) => byte !== 0)
  if (plain[end] !== 2) throw new Error('the last record has no delimiter')
  return plain.subarray(0, end).toString('utf8')
}

/** RFC 8292. Throws for a token that is not signed, or not for this service. */
function senderOf(authorization: string, origin: string): Pick<ReceivedPush, 'sender' | 'contact'> {
  const [, token = '', sender = ''] = /^vapid t=([^,]+), ?k=(.+)$/.exec(authorization) ?? []
  const [head = '', claimed = '', signature = ''] = token.split('.')
  const point = Buffer.from(sender, 'base64url')
  const key = createPublicKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    },
  })
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claimed}`),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!isSigned) throw new Error('the token is not signed by the named key')
  const claims = JSON.parse(Buffer.from(claimed, 'base64url').toString())
  if (claims.aud !== origin) throw new Error(`the token is for ${claims.aud}`)
  if (typeof claims.exp !== 'number') throw new Error('the token does not expire')
  if (!/^(mailto|https):/.test(claims.sub)) throw new Error('the token names no contact')
  return { sender, contact: claims.sub }
}
