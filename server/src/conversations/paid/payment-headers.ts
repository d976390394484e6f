import type { PaidReply } from '@roost/contracts/conversations/paid'
import { paidNetwork } from '@roost/contracts/conversations/paid-networks'
import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http'
import { Fault } from '../../kit/fault.ts'
import { type Offer, type Proof, paymentRequired, versionOneForms } from './rules.ts'
import type { Outcome } from './service.ts'

/** Clients of version 2 read the header, clients of version 1 the body. */
function terms(offer: Offer, error: string) {
  const required = paymentRequired(offer, error)
  return {
    fields: { payment_required: required, x402Version: 1, accepts: versionOneForms(offer) },
    // The library's type accepts networks only in CAIP-2 form, which stored networks have.
    headers: { 'payment-required': encodePaymentRequiredHeader(required as never) },
  }
}

export function paymentRequiredFault(offer: Offer): Fault {
  const { fields, headers } = terms(offer, 'payment_required')
  return new Fault('payment_required', undefined, fields, { headers })
}

export function paymentFailedFault(
  offer: Offer,
  proof: Proof,
  { reason, collecting }: Outcome & { kind: 'unpaid' },
): Fault {
  const { fields, headers } = terms(offer, reason)
  const payment = { settled: false, ...(collecting ? { payer: collecting.payer } : {}) }
  const failed = {
    success: false,
    errorReason: reason,
    ...(collecting?.payer ? { payer: collecting.payer } : {}),
    transaction: '',
    network: networkFor(proof, offer.network),
  }
  const detail = collecting
    ? 'The payment could not be collected. The reply is kept for 24 hours: send the same message with a good proof.'
    : 'The payment was not accepted.'
  return new Fault(
    'payment_failed',
    detail,
    { reason, payment, ...fields },
    { headers: { ...headers, ...(collecting ? paymentResponse(proof, failed) : {}) } },
  )
}

type SettlementWire = { success: boolean; transaction: string; network: string; payer?: string }

export function settlementOf({ payment }: PaidReply, proof: Proof): SettlementWire {
  return {
    success: true,
    transaction: payment.transaction ?? '',
    network: networkFor(proof, payment.network),
    ...(payment.payer === null ? {} : { payer: payment.payer }),
  }
}

/** The header name depends on the version of x402. */
export function paymentResponse({ version }: Proof, settlement: SettlementWire): Record<string, string> {
  const name = version === 1 ? 'x-payment-response' : 'payment-response'
  return { [name]: encodePaymentResponseHeader(settlement as never) }
}

function networkFor({ version }: Proof, network: string): string {
  return (version === 1 && paidNetwork(network)?.v1) || network
}
