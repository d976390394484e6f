import { z } from 'zod'
import { ProviderKeyBody } from '../foundation/settings.ts'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, Money, Timestamp } from '../kit/primitives.ts'
import { CostEstimated } from './cost.ts'

const tag = 'Provider subscriptions'
const path = '/api/subscriptions'
const adminPerson = { who: 'admin', gate: 'person' } as const

/** Providers of the broker's model requests. */
export const modelProviders = ['anthropic', 'google', 'openai'] as const
export const ModelProvider = z.enum(modelProviders)
export type ModelProvider = z.output<typeof ModelProvider>

/** A token or a key; it never leaves the platform. */
const Token = ProviderKeyBody.shape.api_key
const SubscriptionName = z
  .string()
  .trim()
  .regex(/^[^\p{Cc}/]{1,100}$/u, 'must be 1 to 100 characters without "/" and control characters')
const Label = z.string().trim().min(1).max(100).nullish()

export const Subscription = z
  .object({
    id: Id,
    name: z.string(),
    provider: ModelProvider,
    subscription_type: z.string().nullable(),
    rate_limit_tier: z.string().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
    agent_count: z.number().int(),
    agents: z.array(z.string()).describe('Names of the agents that use it.'),
  })
  .meta({ id: 'Subscription' })
export type Subscription = z.output<typeof Subscription>

export const listSubscriptions = endpoint({
  id: 'listSubscriptions',
  method: 'GET',
  path,
  summary: 'List provider subscriptions by name, without their tokens',
  tag,
  access: { who: 'admin' },
  returns: z.array(Subscription),
})

export const PutSubscription = z.object({
  name: SubscriptionName,
  provider: ModelProvider.default('anthropic'),
  token: Token,
  subscription_type: Label,
  rate_limit_tier: Label,
})

export const putSubscription = endpoint({
  id: 'putSubscription',
  method: 'POST',
  path,
  summary: 'Add a provider subscription, or replace the one with the same name',
  description:
    'The token stays in the platform: the broker adds it to requests. Agents keep a replaced subscription. Changing the provider of a subscription in use is 409.',
  tag,
  access: adminPerson,
  body: PutSubscription,
  returns: Subscription,
  fails: ['conflict'],
  audit: { type: 'credentials', action: 'put_subscription' },
})

export const SubscriptionTest = z.object({
  valid: z.boolean(),
  status: z.enum(['ok', 'rate_limited', 'invalid_token', 'unreachable']),
  message: z.string().nullable(),
})
export type SubscriptionTest = z.output<typeof SubscriptionTest>

export const testSubscription = endpoint({
  id: 'testSubscription',
  method: 'POST',
  path: `${path}/test`,
  summary: 'Test a token with the provider; it is not stored',
  tag,
  access: adminPerson,
  body: z.object({ token: Token, provider: ModelProvider.default('anthropic') }),
  returns: SubscriptionTest,
  audit: { type: 'credentials', action: 'test_subscription' },
})

const SubscriptionParams = z.object({ id: z.string() })

export const deleteSubscription = endpoint({
  id: 'deleteSubscription',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Delete a provider subscription by id or name',
  description: 'Its agents use the key of the platform from their next request on.',
  tag,
  access: adminPerson,
  params: SubscriptionParams,
  returns: z.object({ success: z.literal(true), message: z.string(), agents_cleared: z.array(z.string()) }),
  fails: ['not_found'],
  audit: { type: 'credentials', action: 'delete_subscription' },
})

const Window = z.object({
  input_tokens: z.number().int(),
  output_tokens: z.number().int(),
  cost_usd: Money,
  cost_estimated: CostEstimated,
  message_count: z.number().int().describe('Successful requests.'),
})

export const SubscriptionUsage = z
  .object({
    subscription_id: Id,
    window_5h: Window,
    window_7d: Window,
    agents: z.array(z.string()),
    failure_events_24h: z.number().int().describe('Requests that the provider rate-limited or rejected.'),
    rate_limited_now: z.boolean(),
  })
  .meta({ id: 'SubscriptionUsage' })
export type SubscriptionUsage = z.output<typeof SubscriptionUsage>

export const getSubscriptionUsage = endpoint({
  id: 'getSubscriptionUsage',
  method: 'GET',
  path: `${path}/{id}/usage`,
  summary: 'Usage of a provider subscription, by id or name',
  description: 'As counted by the broker for the last 5 hours and 7 days, accurate to five minutes.',
  tag,
  access: { who: 'admin', scopes: ['ops'] },
  params: SubscriptionParams,
  returns: SubscriptionUsage,
  fails: ['not_found'],
})

const Assigned = z.object({
  success: z.literal(true),
  agent_name: z.string(),
  subscription_name: z.string().nullable(),
})

export const AssignSubscription = z.object({ subscription_name: z.string().trim().min(1).max(100) })

export const assignSubscription = endpoint({
  id: 'assignSubscription',
  method: 'PUT',
  path: `${path}/agents/{name}`,
  summary: 'Assign a subscription to an agent, from its next request on',
  description: "The subscription's provider must be the one of the agent's runtime.",
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: AssignSubscription,
  returns: Assigned,
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'configuration', action: 'assign_subscription' },
})

export const clearSubscription = endpoint({
  id: 'clearSubscription',
  method: 'DELETE',
  path: `${path}/agents/{name}`,
  summary: 'Remove the subscription of an agent, which uses the key of the platform again',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  returns: Assigned,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'clear_subscription' },
})

export const authModes = ['subscription', 'api_key', 'not_configured'] as const
export type AuthMode = (typeof authModes)[number]

export const AgentAuth = z
  .object({
    agent_name: z.string(),
    auth_mode: z.enum(authModes),
    subscription_name: z.string().nullable(),
    has_api_key: z.boolean().describe('The platform has a key for the provider of its runtime.'),
  })
  .meta({ id: 'AgentAuth' })
export type AgentAuth = z.output<typeof AgentAuth>

export const getAgentAuth = endpoint({
  id: 'getAgentAuth',
  method: 'GET',
  path: `${path}/agents/{name}/auth`,
  summary: "The credential that an agent's runtime uses for its provider",
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: AgentAuth,
  fails: ['agent_not_found'],
})
