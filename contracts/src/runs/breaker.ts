import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'

const tag = 'Agent configuration'
const path = '/api/agents/{name}/circuit-breaker'

/** `half_open`: the wait is over, and the next call decides. */
export const breakerStates = ['closed', 'open', 'half_open'] as const
export type BreakerState = (typeof breakerStates)[number]

const Breaker = z.object({
  state: z.enum(breakerStates),
  failure_count: z.number().int(),
  retry_after_seconds: z.number().int().nullable().describe('While open: time until half open.'),
})

export const CircuitBreaker = z
  .object({
    agent_name: z.string(),
    enabled: z.boolean().describe('The toggle of the agent.'),
    config: z.object({
      enabled: z.boolean(),
      global_enabled: z.boolean().describe('The setting `dispatch_breaker_enabled` of the platform.'),
    }),
    open: z.boolean().describe('The dispatch breaker is active and open, or the transport breaker is open.'),
    dispatch: Breaker.describe('Opened by runs that fail with `auth` or `billing`; refuses new runs.'),
    transport: Breaker.describe('Opened by failed calls over the link; marks the agent unreachable.'),
    warning: z.string().optional().describe('Why the toggle has no effect now.'),
  })
  .meta({ id: 'CircuitBreaker' })
export type CircuitBreaker = z.output<typeof CircuitBreaker>

export const getCircuitBreaker = endpoint({
  id: 'getCircuitBreaker',
  method: 'GET',
  path,
  summary: 'The circuit breakers of an agent, even while disabled',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: CircuitBreaker,
  fails: ['agent_not_found'],
})

export const putCircuitBreaker = endpoint({
  id: 'putCircuitBreaker',
  method: 'PUT',
  path,
  summary: 'Enable or disable the dispatch breaker of an agent',
  description: 'It is active only while the platform setting `dispatch_breaker_enabled` is true too.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: z.object({ enabled: z.boolean() }),
  returns: CircuitBreaker,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_circuit_breaker' },
})

export const CircuitBreakerReset = z.object({
  agent_name: z.string(),
  prior_dispatch_state: z.enum(breakerStates),
  prior_transport_state: z.enum(breakerStates),
  new_state: z.literal('closed'),
  reset_at: Timestamp,
})
export type CircuitBreakerReset = z.output<typeof CircuitBreakerReset>

export const resetCircuitBreaker = endpoint({
  id: 'resetCircuitBreaker',
  method: 'POST',
  path: `${path}/reset`,
  summary: 'Force both breakers of an agent closed',
  tag,
  access: { who: 'admin', gate: 'person' },
  strict: true,
  params: AgentParams,
  returns: CircuitBreakerReset,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'reset_circuit_breaker' },
})
