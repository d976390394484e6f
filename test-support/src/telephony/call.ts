import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js'
import { type MediaEnd, openMediaEnd } from './media.ts'

export type Account = { sid: string; token: string; number: string; callerId: string }

/** How the provider signs a form that it sends; of its own library. */
export function signatureOf(token: string, url: string, params: Record<string, string>): string {
  return getExpectedTwilioSignature(token, url, params)
}

export type Told =
  | 'initiated'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'no-answer'
  | 'failed'
  | 'canceled'

/** One call that the platform has asked for; the test is the person who is called. */
export type ProvidedCall = {
  sid: string
  to: string
  from: string
  statusUrl: string
  mediaUrl: string
  ticket: string
  ringSeconds: number
  maxSeconds: number
  /** Tells the platform how the call goes, signed by the provider's library; `token` is the account's unless said. */
  tell(status: Told, options?: { token?: string }): Promise<Response>
  /** Somebody answers: told, and the sound of the call is streamed. */
  answer(): Promise<MediaEnd>
  isOver(): boolean
  /** Resolves when the platform has ended the call by the API, or its sound has ended. */
  hungUp: Promise<void>
  endedByApi(): Promise<void>
  /** The machine of the provider is gone. */
  drop(): void
}

export function createProvidedCall(account: Account, sid: string, form: URLSearchParams): ProvidedCall {
  const field = (name: string) => form.get(name) ?? ''
  const twiml = field('Twiml')
  const attribute = (pattern: RegExp) => (pattern.exec(twiml)?.[1] ?? '').replaceAll('&amp;', '&')
  const statusUrl = field('StatusCallback')
  const mediaUrl = attribute(/<Connect><Stream url="([^"]+)">/)
  const givenTicket = attribute(/<Parameter name="ticket" value="([^"]+)"\/>/)
  const hungUp = Promise.withResolvers<void>()
  const told = new Set(form.getAll('StatusCallbackEvent'))
  let media: MediaEnd | null = null
  let isOver = false

  const call: ProvidedCall = {
    sid,
    to: field('To'),
    from: field('From'),
    statusUrl,
    mediaUrl,
    ticket: givenTicket,
    ringSeconds: Number(field('Timeout')),
    maxSeconds: Number(field('TimeLimit')),
    hungUp: hungUp.promise,
    isOver: () => isOver,
    async tell(status, { token = account.token } = {}) {
      if (!['initiated', 'ringing', 'in-progress'].includes(status)) isOver = true
      const params = {
        AccountSid: account.sid,
        ApiVersion: '2010-04-01',
        CallSid: sid,
        CallStatus: status,
        Direction: 'outbound-api',
        From: call.from,
        To: call.to,
      }
      return fetch(statusUrl, {
        method: 'POST',
        headers: { 'x-twilio-signature': signatureOf(token, statusUrl, params) },
        body: new URLSearchParams(params),
      })
    },
    async answer() {
      if (!told.has('answered')) throw new Error('Nobody asked to be told of the answer.')
      await call.tell('in-progress')
      media = await openMediaEnd({
        url: mediaUrl,
        accountSid: account.sid,
        callSid: sid,
        ticket: givenTicket,
      })
      // The platform has ended the stream: there is nothing more to do in this call.
      void media.closed.then(() => {
        hungUp.resolve()
        if (!isOver) void call.tell('completed').catch(() => {})
      })
      return media
    },
    async endedByApi() {
      isOver = true
      media?.stop()
      hungUp.resolve()
      await call.tell('completed').catch(() => {})
    },
    drop() {
      isOver = true
      media?.stop()
    },
  }
  return call
}
