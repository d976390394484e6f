import { z } from 'zod'
import {
  FacilitatorDown,
  type Payments,
  type PresentedPayment,
  type Settled,
  type SupportedKind,
  type Verified,
} from './port.ts'

const timeoutMs = 30_000
const maxReplyLength = 256 * 1024

const text = z.string().nullish()
const VerifyReply = z.object({ isValid: z.boolean(), invalidReason: text, payer: text })
const SettleReply = z.object({ success: z.boolean(), errorReason: text, transaction: text, payer: text })
const SupportedReply = z.object({ kinds: z.array(z.object({ scheme: z.string(), network: z.string() })) })

/**
 * A facilitator over HTTP. x402's own client is not used: it follows redirects with the proof, prints, and
 * does not distinguish unsent from unanswered requests.
 */
export function createFacilitator({ url, fetch }: { url: string; fetch: typeof globalThis.fetch }): Payments {
  const base = url.replace(/\/+$/, '')

  async function ask(path: string, body?: object): Promise<{ status: number; json: unknown }> {
    try {
      const reply = await fetch(`${base}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { accept: 'application/json', ...(body ? { 'content-type': 'application/json' } : {}) },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      const answered = await reply.text()
      return { status: reply.status, json: answered.length > maxReplyLength ? null : parsed(answered) }
    } catch (cause) {
      const mayHaveActed = !isNeverSent(cause)
      throw new FacilitatorDown('The facilitator of payments cannot be reached.', { mayHaveActed, cause })
    }
  }

  const wire = ({ version, proof, requirements }: PresentedPayment) => ({
    x402Version: version,
    paymentPayload: proof,
    paymentRequirements: requirements,
  })

  return {
    async verify(payment): Promise<Verified> {
      const { status, json } = await ask('/verify', wire(payment))
      const read = VerifyReply.safeParse(json)
      if (!read.success) throw unexpected(status)
      const { isValid, invalidReason, payer } = read.data
      const payerAddress = short(payer)
      return isValid
        ? { ok: true, payer: payerAddress }
        : { ok: false, reason: reasonOf(invalidReason), payer: payerAddress }
    },

    async settle(payment): Promise<Settled> {
      const { status, json } = await ask('/settle', wire(payment))
      const read = SettleReply.safeParse(json)
      if (!read.success) throw unexpected(status)
      const { success, errorReason, transaction, payer } = read.data
      const payerAddress = short(payer)
      // The transaction is pending and may still succeed, so a second payment must be avoided.
      if (!success && errorReason === settlementPending) throw pendingError()
      if (!success) return { ok: false, reason: reasonOf(errorReason), payer: payerAddress }
      return { ok: true, transaction: short(transaction), payer: payerAddress }
    },

    async supported(): Promise<SupportedKind[]> {
      const { status, json } = await ask('/supported')
      const read = SupportedReply.safeParse(json)
      if (!read.success) throw unexpected(status)
      return read.data.kinds
    },
  }
}

/** The name that x402 facilitators use. */
const settlementPending = 'settlement_pending'

function pendingError(): FacilitatorDown {
  const message = 'The facilitator of payments cannot confirm the payment yet.'
  return new FacilitatorDown(message, { mayHaveActed: true })
}

/** Gateways use these statuses although the server behind them may have acted. */
const gateways = [502, 504]

function unexpected(status: number): FacilitatorDown {
  const mayHaveActed = gateways.includes(status)
  return new FacilitatorDown(`The facilitator of payments answered ${status}.`, { mayHaveActed })
}

const unsentCodes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

/** True when no connection existed on which the request could have been sent. */
function isNeverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null
  if (!(cause instanceof Error && 'code' in cause)) return false
  return unsentCodes.includes(String(cause.code)) || cause.code === 'UND_ERR_CONNECT_TIMEOUT'
}

function parsed(answered: string): unknown {
  try {
    return JSON.parse(answered)
  } catch {
    return null
  }
}

/** Addresses and transactions of every chain are shorter. */
function short(value: string | null | undefined): string | null {
  return value ? value.slice(0, 200) : null
}

/** Shown to the payer; control characters would break log lines. */
function reasonOf(value: string | null | undefined): string {
  return (value || 'refused').replaceAll(/\p{Cc}/gu, ' ').slice(0, 300)
}
