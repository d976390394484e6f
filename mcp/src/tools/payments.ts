import { getPaidChat, listPayments, PaidChat, putPaidChat } from '@roost/contracts/conversations/paid'
import { paidNetworks } from '@roost/contracts/conversations/paid-networks'
import { asQuery, bodyOf, described, queryOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, words } from './parameters.ts'

const networks = paidNetworks.map(({ network, label }) => `${network} (${label})`).join(', ')

export const paymentTools: Tool[] = [
  tool({
    name: 'get_paid_chat',
    description:
      'The price of one message to an agent for strangers, and the wallet that is paid; nulls until it is set. For the owner.',
    audience: 'person',
    effect: 'read',
    requests: [request(getPaidChat)],
    input: { agent_name: agentName },
    output: PaidChat,
    run: ({ api }, { agent_name }) => api.call(getPaidChat, { params: { name: agent_name } }),
  }),
  tool({
    name: 'configure_paid_chat',
    description:
      'Offer messages to an agent to strangers for payment (x402, in USDC), or end the offer. Replaces the previous settings. The money goes directly to `pay_to`: take the address from the person, never make one up. For the owner.',
    audience: 'person',
    effect: 'write',
    requests: [request(putPaidChat)],
    input: {
      agent_name: agentName,
      ...described(bodyOf(putPaidChat), {
        enabled: 'Whether strangers can pay now.',
        price_usd: 'Price of one message in US dollars, at most 6 decimals.',
        pay_to: 'Address of the wallet that is paid.',
        network: `One of ${networks}.`,
        asset: 'Address of the token. Defaults to USDC of the network.',
        description: 'What payers read about the offer.',
      }),
    },
    output: PaidChat,
    run: ({ api }, { agent_name, ...body }) => api.call(putPaidChat, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'list_payments',
    description:
      'Payments for messages to an agent, newest first, with their state: verified, settled, failed to settle, rejected. For the owner.',
    audience: 'person',
    effect: 'read',
    requests: [request(listPayments)],
    input: { agent_name: agentName, ...described(queryOf(listPayments), { limit: words.limit }) },
    async run({ api }, { agent_name, ...query }) {
      const params = { name: agent_name }
      const payments = await api.call(listPayments, { params, query: asQuery(query) })
      return { payments, count: payments.length }
    },
  }),
]
