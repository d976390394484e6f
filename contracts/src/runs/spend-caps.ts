import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Money } from '../kit/primitives.ts'
import { CostEstimated } from './cost.ts'

const tag = 'Agent configuration'
const path = '/api/agents/{name}/spend-cap'

const Cap = z.number().positive('must be above 0').max(1_000_000).nullable()

export const SpendCap = z
  .object({
    agent_name: z.string(),
    daily_usd: Money.nullable().describe('For all runs of one day (UTC) together; null for none.'),
    per_run_usd: Money.nullable().describe('For each run; null for none.'),
    spent_today_usd: Money.describe(
      'What the broker booked for the runs that were active today (UTC), estimates included.',
    ),
    cost_estimated: CostEstimated,
  })
  .meta({ id: 'SpendCap' })
export type SpendCap = z.output<typeof SpendCap>

export const SpendCapPatch = z
  .object({ daily_usd: Cap.optional(), per_run_usd: Cap.optional() })
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'changes nothing')
export type SpendCapPatch = z.output<typeof SpendCapPatch>

export const getSpendCap = endpoint({
  id: 'getSpendCap',
  method: 'GET',
  path,
  summary: 'What the agent may spend on models, and has spent today',
  description: 'Caps act on `spent_today_usd` and on the `cost` of a run, as the broker booked them.',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: SpendCap,
  fails: ['agent_not_found'],
})

export const putSpendCap = endpoint({
  id: 'putSpendCap',
  method: 'PUT',
  path,
  summary: 'Set what the agent may spend; what is left out stays',
  description:
    'Applies to the next model request. Caps act on the cost that the broker books by the price table, estimates included, and not on what a runtime reports. Once a cap is reached the broker refuses, and the run fails with `cap_reached`.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: SpendCapPatch,
  returns: SpendCap,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_spend_cap' },
})
