import {
  getPaidChat,
  listPayments,
  PaidChat,
  PaidChatBody,
  putPaidChat,
} from '@roost/contracts/conversations/paid'
import { paidNetworks } from '@roost/contracts/conversations/paid-networks'
import { z } from 'zod'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

const networks = paidNetworks.map(({ network, label }) => `${network} (${label})`).join(', ')

export const paymentTools: Tool[] = [
  tool({
    name: 'get_paid_chat',
    description:
      'What strangers pay for one message to an agent, who is paid and where they send it; nulls until it is set. For the owner.',
    audience: 'person',
    effect: 'read',
    input: { agent_name: agentName },
    output: PaidChat,
    run: ({ api }, { agent_name }) => api.call(getPaidChat, { params: { name: agent_name } }),
  }),
  tool({
    name: 'configure_paid_chat',
    description:
      'Offer messages to an agent to strangers for pay (x402, in USDC), or end the offer. Replaces what was set before. The money goes straight to `pay_to`: take the address from the person, never make one up. For the owner.',
    audience: 'person',
    effect: 'write',
    input: {
      agent_name: agentName,
      enabled: z.boolean().describe('Whether strangers may pay now.'),
      price_usd: PaidChatBody.shape.price_usd.describe('Of one message in US dollars, at most 6 decimals.'),
      pay_to: PaidChatBody.shape.pay_to.describe('Address of the wallet that is paid.'),
      network: PaidChatBody.shape.network.describe(`One of ${networks}.`),
      asset: z.string().optional().describe('Left out: USDC of the network.'),
      description: z.string().max(500).optional().describe('What payers are told they get.'),
    },
    output: PaidChat,
    run: ({ api }, { agent_name, ...body }) => api.call(putPaidChat, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'list_payments',
    description:
      'What became of payments for messages to an agent, newest first: verified, settled, failed to settle, rejected. For the owner.',
    audience: 'person',
    effect: 'read',
    input: {
      agent_name: agentName,
      limit: z.number().int().min(1).max(500).optional().describe('50 unless said otherwise.'),
    },
    async run({ api }, { agent_name, limit }) {
      const query = limit === undefined ? {} : { limit: String(limit) }
      const payments = await api.call(listPayments, { params: { name: agent_name }, query })
      return Array.isArray(payments) ? { payments, count: payments.length } : payments
    },
  }),
]
