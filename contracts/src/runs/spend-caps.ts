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
    daily_usd: Money.nullable().describe('For all runs of one UTC day together; null means no cap.'),
    per_run_usd: Money.nullable().describe('For each run; null means no cap.'),
    spent_today_usd: Money.describe(
      'Cost booked by the broker for runs active today (UTC), including estimates.',
    ),
    cost_estimated: CostEstimated,
  })
  .meta({ id: 'SpendCap' })
export type SpendCap = z.output<typeof SpendCap>

export const SpendCapPatch = z
  .object({ daily_usd: Cap.optional(), per_run_usd: Cap.optional() })
  .refine((body) => Object.values(body).some((value) => value !== undefined), 'must have at least one field')
export type SpendCapPatch = z.output<typeof SpendCapPatch>

export const getSpendCap = endpoint({
  id: 'getSpendCap',
  method: 'GET',
  path,
  summary: 'Spend caps of an agent and its cost today',
  description: 'Caps apply to `spent_today_usd` and to the `cost` of a run, as booked by the broker.',
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
  summary: 'Set the spend caps of an agent; omitted fields stay unchanged',
  description:
    'Applies from the next model request on. Caps use the cost that the broker books by the price table, including estimates, not the cost that a runtime reports. When a cap is reached, the broker refuses requests and the run fails with `cap_reached`.',
  tag,
  access: { who: 'owner', gate: 'person' },
  params: AgentParams,
  body: SpendCapPatch,
  returns: SpendCap,
  fails: ['agent_not_found'],
  audit: { type: 'configuration', action: 'set_spend_cap' },
})
