import {
  deletePaidChat,
  getPaidChat,
  getPaidChatInfo,
  listPayments,
  type PaidReply,
  putPaidChat,
  sendPaidMessage,
} from '@roost/contracts/conversations/paid'
import { paidNetwork } from '@roost/contracts/conversations/paid-networks'
import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from '@x402/core/http'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { agentRoute, answer, type Route, route } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import { readProof } from './proof.ts'
import { type Offer, type Proof, paymentRequired, versionOneForms } from './rules.ts'
import type { Outcome, Paid } from './service.ts'

export function paidRoutes(paid: Paid, limits: Pick<RateLimits, 'use'>): Route[] {
  const { offers } = paid
  return [
    agentRoute(getPaidChat, ({ agent }) => offers.view(agent)),
    agentRoute(putPaidChat, async ({ agent, body, request }) => {
      request.note({ ...body })
      return offers.change(agent, body)
    }),
    agentRoute(deletePaidChat, async ({ agent }) => {
      await offers.remove(agent)
      return { message: 'The agent is not offered for pay any more.', agent_name: agent.name }
    }),
    agentRoute(listPayments, ({ agent, query }) => paid.payments(agent.id, query.limit)),

    route(getPaidChatInfo, async ({ params, request }) => {
      // Counted apart: who asks for the price has messages left.
      await limits.use(rateRules.paidChat, `info:${request.ip}`)
      return offers.info(params.name)
    }),
    route(sendPaidMessage, async ({ params, body, request }) => {
      await limits.use(rateRules.paidChat, request.ip)
      const offer = await offers.find(params.name)
      paid.refuseUnconfigured()
      const proof = readProof(request.header)
      if (!proof) throw priced(offer)
      const asked = { offer, proof, message: body.message, sessionId: body.session_id ?? null }
      const outcome = await paid.answer(asked, request.signal)
      if (outcome.kind === 'unpaid') throw unpaid(offer, proof, outcome)
      const { reply, isReplay } = outcome
      const { execution_id, session_id } = reply
      request.note({ execution_id, session_id, payer: reply.payment.payer })
      return answer(reply, {
        headers: {
          ...paymentResponse(proof, settlementOf(reply, proof)),
          'x-execution-id': execution_id,
          ...(isReplay ? { 'x-idempotent-replay': 'true' } : {}),
        },
      })
    }),
  ]
}

/** Clients of version 2 read the header, those of version 1 the body. */
function terms(offer: Offer, words: string) {
  const required = paymentRequired(offer, words)
  return {
    fields: { payment_required: required, x402Version: 1, accepts: versionOneForms(offer) },
    // Its type knows networks only by their form, which ours have.
    headers: { 'payment-required': encodePaymentRequiredHeader(required as never) },
  }
}

function priced(offer: Offer): Fault {
  const { fields, headers } = terms(offer, 'payment_required')
  return new Fault('payment_required', undefined, fields, { headers })
}

function unpaid(offer: Offer, proof: Proof, { reason, collecting }: Outcome & { kind: 'unpaid' }): Fault {
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

function settlementOf({ payment }: PaidReply, proof: Proof): SettlementWire {
  return {
    success: true,
    transaction: payment.transaction ?? '',
    network: networkFor(proof, payment.network),
    ...(payment.payer === null ? {} : { payer: payment.payer }),
  }
}

/** Under the name that its version of x402 gives it. */
function paymentResponse({ version }: Proof, settlement: SettlementWire): Record<string, string> {
  const name = version === 1 ? 'x-payment-response' : 'payment-response'
  return { [name]: encodePaymentResponseHeader(settlement as never) }
}

function networkFor({ version }: Proof, network: string): string {
  return (version === 1 && paidNetwork(network)?.v1) || network
}
