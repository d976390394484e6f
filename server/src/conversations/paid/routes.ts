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
import { notOffered } from './offers.ts'
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
      // Counted apart: who asks for the price has messages left.
      await limits.use(rateRules.paidChat, `info:${request.ip}`)
      return offers.info(params.name)
    }),
    route(sendPaidMessage, async ({ params, body, request }) => {
      await limits.use(rateRules.paidChat, request.ip)
      const { agent, offer } = await offers.seek(params.name)
      if (!offer && !paid.isConfigured) throw notOffered()
      paid.refuseUnconfigured()
      const [{ readableProof, readProof }, { paymentResponse, priced, settlementOf, unpaid }] =
        await protocol()
      const proof = offer ? readProof(request.header) : readableProof(request.header)
      if (!proof) throw offer ? priced(offer) : notOffered()
      const asked = { agent, offer, proof, message: body.message, sessionId: body.session_id ?? null }
      const outcome = await paid.answer(asked, request.signal)
      if (outcome.kind === 'unpaid') throw offer ? unpaid(offer, proof, outcome) : notOffered()
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

/** What speaks x402 is read with the first message that somebody would pay for. */
function protocol() {
  return Promise.all([import('./proof.ts'), import('./payment-headers.ts')])
}
