import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, Money, queryInteger, Timestamp } from '../kit/primitives.ts'

const tag = 'Paid chat'
const settingsPath = '/api/agents/{name}/paid'

const text = z.string().nullable()

export const leastPriceUsd = 0.000001
export const highestPriceUsd = 1000
export const paidMessageLength = 8000

/** An address of an EVM chain. */
const evmAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex digits')

export const PaidChat = z
  .object({
    agent_name: z.string(),
    enabled: z.boolean(),
    price_usd: Money.nullable().describe('Price per message; null, like the fields below, until it is set.'),
    pay_to: text,
    network: text.describe('CAIP-2, such as `eip155:8453`.'),
    asset: text.describe('Contract of the token for payments.'),
    description: text,
    url: z.string().describe('Address for paid messages.'),
  })
  .meta({ id: 'PaidChat' })
export type PaidChat = z.output<typeof PaidChat>

export const PaidChatBody = z.object({
  enabled: z.boolean(),
  price_usd: z
    .number()
    .min(leastPriceUsd)
    .max(highestPriceUsd)
    .describe('Price per message, at most 6 decimals, regardless of the cost of the run.'),
  pay_to: evmAddress.describe('Address of the payee; a mixed-case address must have a valid checksum.'),
  network: z
    .string()
    .regex(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/, 'must be a CAIP-2 network, such as "eip155:8453"'),
  asset: evmAddress.nullish().describe('Default: USDC of the network.'),
  description: z.string().trim().max(500).nullish().describe('Description for payers.'),
})
export type PaidChatBody = z.output<typeof PaidChatBody>

export const paymentActions = ['verify', 'settle', 'settle_failed', 'reject'] as const

export const Payment = z
  .object({
    id: Id,
    execution_id: text,
    action: z.enum(paymentActions),
    payer: text,
    amount: z.string().describe('Amount in the smallest unit of the asset.'),
    asset: z.string(),
    network: z.string(),
    transaction: text,
    success: z.boolean(),
    error: text,
    created_at: Timestamp,
  })
  .meta({ id: 'Payment' })
export type Payment = z.output<typeof Payment>

/** Payment requirements in the form of x402, version 2. */
const Requirements = z.object({
  scheme: z.literal('exact'),
  network: z.string(),
  amount: z.string(),
  asset: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.number().int(),
  extra: z.object({ name: z.string(), version: z.string() }),
})

export const PaidChatInfo = z
  .object({
    agent_name: z.string(),
    payment_required: z.literal(true),
    price_usd: Money,
    x402Version: z.literal(2),
    resource: z.string(),
    accepts: z.array(Requirements),
    description: text,
  })
  .meta({ id: 'PaidChatInfo' })
export type PaidChatInfo = z.output<typeof PaidChatInfo>

export const PaidMessage = z.object({
  message: z
    .string()
    .max(paidMessageLength)
    .refine((value) => value.trim() !== '', 'must not be blank'),
  session_id: z.string().max(64).nullish().describe('From an earlier reply to the same payer.'),
})
export type PaidMessage = z.output<typeof PaidMessage>

export const PaidReply = z
  .object({
    status: z.literal('success'),
    response: text,
    execution_id: Id,
    session_id: Id,
    payment: z.object({
      settled: z.literal(true),
      transaction: text.describe('Null: the facilitator did not return it; no further payment is due.'),
      network: z.string(),
      payer: text,
    }),
  })
  .meta({ id: 'PaidReply' })
export type PaidReply = z.output<typeof PaidReply>

const ownerWrites = { who: 'owner', gate: 'person' } as const

export const getPaidChat = endpoint({
  id: 'getPaidChat',
  method: 'GET',
  path: settingsPath,
  summary: 'Get price and payee of paid messages',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  returns: PaidChat,
  fails: ['agent_not_found'],
})

export const putPaidChat = endpoint({
  id: 'putPaidChat',
  method: 'PUT',
  path: settingsPath,
  summary: 'Set price and payee, and enable or disable paid messages',
  description: 'Replaces the stored terms. Messages already paid for keep the previous terms.',
  tag,
  access: ownerWrites,
  params: AgentParams,
  body: PaidChatBody,
  returns: PaidChat,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_paid_chat' },
})

export const deletePaidChat = endpoint({
  id: 'deletePaidChat',
  method: 'DELETE',
  path: settingsPath,
  summary: 'Disable paid messages and delete price and payee; payment records stay',
  tag,
  access: ownerWrites,
  params: AgentParams,
  returns: z.object({ message: z.string(), agent_name: z.string() }),
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'delete_paid_chat' },
})

export const listPayments = endpoint({
  id: 'listPayments',
  method: 'GET',
  path: '/api/agents/{name}/payments',
  summary: 'List payment events, newest first',
  tag,
  access: { who: 'owner' },
  params: AgentParams,
  query: z.object({ limit: queryInteger(1, 500, 50) }),
  returns: z.array(Payment),
  fails: ['agent_not_found'],
})

export const getPaidChatInfo = endpoint({
  id: 'getPaidChatInfo',
  method: 'GET',
  path: '/api/paid/{name}/info',
  summary: 'Get the price of a message to the agent',
  description: '404 for an agent without paid messages.',
  tag,
  access: { who: 'none' },
  params: AgentParams,
  returns: PaidChatInfo,
  fails: ['not_found', 'rate_limited'],
})

export const sendPaidMessage = endpoint({
  id: 'sendPaidMessage',
  method: 'POST',
  path: '/api/paid/{name}/chat',
  summary: 'Send a message to the agent, paid by x402',
  description:
    'Without a proof: 402 with the requirements in `PAYMENT-REQUIRED`. With `PAYMENT-SIGNATURE` (version 2) or `X-PAYMENT` (version 1), the platform verifies the proof, waits for the run, then settles the payment. A failed run costs nothing. If the settlement fails, the reply is stored for 24 hours: the same message of the same payer with a valid proof gets it. A repeated proof and message gets the stored reply.',
  tag,
  access: { who: 'none' },
  params: AgentParams,
  body: PaidMessage,
  bodyLimit: 64 * 1024,
  returns: PaidReply,
  headers: ['Payment-Signature', 'X-Payment'],
  replyHeaders: ['X-Execution-Id', 'X-Idempotent-Replay', 'Payment-Response', 'X-Payment-Response'],
  fails: [
    'not_found',
    'invalid_payment',
    'payment_required',
    'payment_failed',
    'session_not_found',
    'request_in_progress',
    'rate_limited',
    'queue_full',
    'upstream_error',
    'not_configured',
    'agent_not_running',
    'circuit_open',
    'run_failed',
    'run_timeout',
    'sync_wait_exceeded',
  ],
  audit: { type: 'execution', action: 'paid_message' },
})
