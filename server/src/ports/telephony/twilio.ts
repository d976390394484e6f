import { z } from 'zod'
import {
  type CallStatus,
  type PlacedCall,
  type Telephony,
  type TelephonyAccount,
  TelephonyDown,
} from './port.ts'
import { audioFrame, clearFrame, markFrame, readFrame } from './twilio-media.ts'
import { isTwilioSignature } from './twilio-signature.ts'

export type TwilioOptions = {
  /** Base address of the API, without a trailing slash. */
  baseUrl: string
  fetch: typeof fetch
}

const timeoutMs = 30_000
const maxReplyLength = 1024 * 1024

const Account = z.object({ sid: z.string(), status: z.string() })
const Numbers = z.object({ incoming_phone_numbers: z.array(z.object({ phone_number: z.string() })) })
const CallerIds = z.object({ outgoing_caller_ids: z.array(z.object({ phone_number: z.string() })) })
const Call = z.object({ sid: z.string().min(1).max(64) })
const Refusal = z.object({ message: z.string(), code: z.number().optional() })

type Reply = { status: number; json: unknown }

/** Twilio's REST API (2010-04-01) and its media streams. */
export function createTwilio({ baseUrl, fetch }: TwilioOptions): Telephony {
  async function ask(
    { accountSid, authToken }: TelephonyAccount,
    path: string,
    form?: URLSearchParams,
  ): Promise<Reply> {
    const credentials = Buffer.from(`${accountSid}:${authToken.reveal()}`).toString('base64')
    try {
      const reply = await fetch(`${baseUrl}/2010-04-01/Accounts/${accountSid}${path}`, {
        method: form ? 'POST' : 'GET',
        headers: { authorization: `Basic ${credentials}`, accept: 'application/json', 'user-agent': 'roost' },
        // Redirects must not send the token to another host.
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
        ...(form ? { body: form } : {}),
      })
      const text = await reply.text()
      return { status: reply.status, json: text.length > maxReplyLength ? null : parsed(text) }
    } catch (cause) {
      throw new TelephonyDown('The telephone provider cannot be reached.', { cause })
    }
  }

  /** A number must belong to the account or be a verified caller id. */
  async function mayCallFrom(account: TelephonyAccount, number: string): Promise<boolean> {
    const query = `PhoneNumber=${encodeURIComponent(number)}`
    const own = await ask(account, `/IncomingPhoneNumbers.json?${query}`)
    const numbers = Numbers.safeParse(own.json)
    if (own.status !== 200 || !numbers.success) throw unexpected(own)
    if (numbers.data.incoming_phone_numbers.some(({ phone_number }) => phone_number === number)) return true
    const verified = await ask(account, `/OutgoingCallerIds.json?${query}`)
    const ids = CallerIds.safeParse(verified.json)
    if (verified.status !== 200 || !ids.success) throw unexpected(verified)
    return ids.data.outgoing_caller_ids.some(({ phone_number }) => phone_number === number)
  }

  return {
    async check(account, fromNumber) {
      const reply = await ask(account, '.json')
      if ([401, 403, 404].includes(reply.status)) return 'bad_credentials'
      const read = Account.safeParse(reply.json)
      if (reply.status !== 200 || !read.success) throw unexpected(reply)
      if (read.data.status !== 'active') return 'bad_credentials'
      return (await mayCallFrom(account, fromNumber)) ? 'good' : 'foreign_number'
    },

    async place(account, call): Promise<PlacedCall> {
      const form = new URLSearchParams({
        To: call.to,
        From: call.from,
        Twiml: twiml(call),
        StatusCallback: call.statusUrl,
        StatusCallbackMethod: 'POST',
        Timeout: String(call.ringSeconds),
        TimeLimit: String(call.maxSeconds),
      })
      for (const event of ['initiated', 'ringing', 'answered', 'completed']) {
        form.append('StatusCallbackEvent', event)
      }
      const reply = await ask(account, '/Calls.json', form)
      if (reply.status >= 400 && reply.status < 500 && reply.status !== 429) {
        const refusal = Refusal.safeParse(reply.json)
        const reason = refusal.success ? refusal.data.message : `It answered ${reply.status}.`
        return { ok: false, refused: reason.slice(0, 500).toWellFormed() }
      }
      const read = Call.safeParse(reply.json)
      if (reply.status !== 201 || !read.success) throw unexpected(reply)
      return { ok: true, providerCallId: read.data.sid }
    },

    async hangUp(account, providerCallId) {
      const form = new URLSearchParams({ Status: 'completed' })
      const reply = await ask(account, `/Calls/${encodeURIComponent(providerCallId)}.json`, form)
      // 400: the call is no longer in progress; 404: the provider has deleted it.
      if ([200, 400, 404].includes(reply.status)) return
      throw unexpected(reply)
    },

    isSigned: (authToken, request) => isTwilioSignature(authToken.reveal(), request),
    readStatus,
    readFrame,
    audioFrame,
    markFrame,
    clearFrame,
  }
}

/** Instructions for an answered call. Stream addresses allow no query, so the ticket is a parameter. */
function twiml({ mediaUrl, ticket }: { mediaUrl: string; ticket: string }): string {
  const stream = `<Stream url="${escaped(mediaUrl)}"><Parameter name="ticket" value="${escaped(ticket)}"/></Stream>`
  return `<?xml version="1.0" encoding="UTF-8"?><Response><Connect>${stream}</Connect></Response>`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)
}

function unexpected({ status }: Reply): TelephonyDown {
  return new TelephonyDown(`The telephone provider answered ${status}.`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // An HTML page is not a response of the API.
    return null
  }
}

const statuses = new Map<string, CallStatus>([
  ['queued', 'initiated'],
  ['initiated', 'initiated'],
  ['ringing', 'ringing'],
  ['in-progress', 'answered'],
  ['answered', 'answered'],
  ['completed', 'completed'],
  ['busy', 'busy'],
  ['no-answer', 'no_answer'],
  ['failed', 'failed'],
  ['canceled', 'cancelled'],
])

/** Parses a status callback; null for unknown states. */
function readStatus(body: Uint8Array): { providerCallId: string; status: CallStatus } | null {
  const form = new URLSearchParams(Buffer.from(body).toString('utf8'))
  const providerCallId = form.get('CallSid')
  const status = statuses.get(form.get('CallStatus') ?? '')
  return providerCallId && status ? { providerCallId, status } : null
}
