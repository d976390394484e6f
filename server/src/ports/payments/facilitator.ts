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
const longestReply = 256 * 1024

const text = z.string().nullish()
const VerifyReply = z.object({ isValid: z.boolean(), invalidReason: text, payer: text })
const SettleReply = z.object({ success: z.boolean(), errorReason: text, transaction: text, payer: text })
const SupportedReply = z.object({ kinds: z.array(z.object({ scheme: z.string(), network: z.string() })) })

/**
 * A facilitator over HTTP. Not the client of x402's library: that one follows a proof to other hosts, prints, and
 * does not tell a request that was never sent from one that was not answered.
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
      return { status: reply.status, json: answered.length > longestReply ? null : parsed(answered) }
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
      const who = short(payer)
      return isValid ? { ok: true, payer: who } : { ok: false, reason: reasonOf(invalidReason), payer: who }
    },

    async settle(payment): Promise<Settled> {
      const { status, json } = await ask('/settle', wire(payment))
      const read = SettleReply.safeParse(json)
      if (!read.success) throw unexpected(status)
      const { success, errorReason, transaction, payer } = read.data
      const who = short(payer)
      // On its way to the chain, and nobody knows whether it arrives: not to be paid for a second time.
      if (!success && errorReason === settlementPending) throw pending()
      if (!success) return { ok: false, reason: reasonOf(errorReason), payer: who }
      return { ok: true, transaction: short(transaction), payer: who }
    },

    async supported(): Promise<SupportedKind[]> {
      const { status, json } = await ask('/supported')
      const read = SupportedReply.safeParse(json)
      if (!read.success) throw unexpected(status)
      return read.data.kinds
    },
  }
}

/** As facilitators of x402 name it. */
const settlementPending = 'settlement_pending'

function pending(): FacilitatorDown {
  const message = 'The facilitator of payments does not know yet whether the payment arrives.'
  return new FacilitatorDown(message, { mayHaveActed: true })
}

/** Gateways answer so for what went on behind them. */
const gateways = [502, 504]

function unexpected(status: number): FacilitatorDown {
  const mayHaveActed = gateways.includes(status)
  return new FacilitatorDown(`The facilitator of payments answered ${status}.`, { mayHaveActed })
}

const neverSent = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

/** There was no connection on which anything could have been sent. */
function isNeverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null
  if (!(cause instanceof Error && 'code' in cause)) return false
  return neverSent.includes(String(cause.code)) || cause.code === 'UND_ERR_CONNECT_TIMEOUT'
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

/** Told to the payer, so without what could break a line of a log. */
function reasonOf(value: string | null | undefined): string {
  return (value || 'refused').replaceAll(/\p{Cc}/gu, ' ').slice(0, 300)
}
