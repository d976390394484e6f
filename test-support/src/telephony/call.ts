import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js'
import { type MediaEnd, openMediaEnd } from './media.ts'

export type Account = { sid: string; token: string; number: string; callerId: string }

/** Signs a form as the provider does, with the provider's library. */
export function signatureOf(token: string, url: string, params: Record<string, string>): string {
  return getExpectedTwilioSignature(token, url, params)
}

export type ReportedStatus =
  | 'initiated'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'no-answer'
  | 'failed'
  | 'canceled'

/** A call that the platform requested; the test plays the called person. */
export type ProvidedCall = {
  sid: string
  to: string
  from: string
  statusUrl: string
  mediaUrl: string
  ticket: string
  ringSeconds: number
  maxSeconds: number
  /**
   * Reports a status to the platform, signed with the provider's library. `token` defaults to the account's.
   */
  tell(status: ReportedStatus, options?: { token?: string }): Promise<Response>
  /** Answers the call: reports it and opens the audio stream. */
  answer(): Promise<MediaEnd>
  isOver(): boolean
  /** Resolves when the platform has ended the call through the API or its audio stream. */
  hungUp: Promise<void>
  endedByApi(): Promise<void>
  /** The provider's server is gone. */
  drop(): void
}

export function createProvidedCall(account: Account, sid: string, form: URLSearchParams): ProvidedCall {
  const field = (name: string) => form.get(name) ?? ''
  const twiml = field('Twiml')
  const attribute = (pattern: RegExp) => (pattern.exec(twiml)?.[1] ?? '').replaceAll('&amp;', '&')
  const statusUrl = field('StatusCallback')
  const mediaUrl = attribute(/<Connect><Stream url="([^"]+)">/)
  const ticket = attribute(/<Parameter name="ticket" value="([^"]+)"\/>/)
  const hungUp = Promise.withResolvers<void>()
  const reportedEvents = new Set(form.getAll('StatusCallbackEvent'))
  let media: MediaEnd | null = null
  let isOver = false

  const call: ProvidedCall = {
    sid,
    to: field('To'),
    from: field('From'),
    statusUrl,
    mediaUrl,
    ticket,
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
      if (!reportedEvents.has('answered'))
        throw new Error('The platform did not subscribe to the event "answered".')
      await call.tell('in-progress')
      media = await openMediaEnd({
        url: mediaUrl,
        accountSid: account.sid,
        callSid: sid,
        ticket,
      })
      // The platform ended the stream, so the call is over.
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
