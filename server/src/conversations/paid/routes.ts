import {
  deletePaidChat,
  getPaidChat,
  getPaidChatInfo,
  listPayments,
  putPaidChat,
  sendPaidMessage,
} from '@roost/contracts/conversations/paid'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import { agentRoute, answer, type Route, route } from '../../http/route.ts'
import { offerNotFound } from './offers.ts'
import type { Paid } from './service.ts'

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
      // A separate limit, so that asking for the price costs no messages.
      await limits.use(rateRules.paidInfo, request.ip)
      return offers.info(params.name)
    }),
    route(sendPaidMessage, async ({ params, body, request }) => {
      await limits.use(rateRules.paidChat, request.ip)
      const { agent, offer } = await offers.lookUp(params.name)
      if (!offer && !paid.isConfigured) throw offerNotFound()
      paid.requireConfigured()
      const [
        { readableProof, readProof },
        { paymentResponse, paymentRequiredFault, settlementOf, paymentFailedFault },
      ] = await protocol()
      const proof = offer ? readProof(request.header) : readableProof(request.header)
      if (!proof) throw offer ? paymentRequiredFault(offer) : offerNotFound()
      const paidRequest = { agent, offer, proof, message: body.message, sessionId: body.session_id ?? null }
      const outcome = await paid.answer(paidRequest, request.signal)
      if (outcome.kind === 'unpaid') throw offer ? paymentFailedFault(offer, proof, outcome) : offerNotFound()
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

/** Loads the x402 code when the first paid message arrives. */
function protocol() {
  return Promise.all([import('./proof.ts'), import('./payment-headers.ts')])
}
