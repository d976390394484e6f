import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { Money } from '../kit/primitives.ts'
import { CostEstimated } from './cost.ts'
import { ExecutionSummary } from './executions.ts'

const cost = Money.describe('US dollars.')
const count = z.number().int()
const date = z.string().describe('A day in UTC, `2026-01-31`.')
const Day = z.iso.date('must be a date of the form YYYY-MM-DD')

export const costGroupings = ['agent', 'model', 'person', 'trigger', 'tag'] as const
export type CostGrouping = (typeof costGroupings)[number]

/** Days in one request. */
export const maxCostDays = 400
/** Groups by name; the rest is one group. */
export const maxCostGroups = 20

const CostGroup = z.object({
  kind: z
    .enum(['value', 'none', 'rest'])
    .describe(
      '`value`: one agent, model, person, trigger or tag. `none`: runs without one. `rest`: all groups after the first 20.',
    ),
  key: z
    .string()
    .nullable()
    .describe(
      'The value of the filter `agent`, `model`, `person`, `triggered_by` or `tag` of `GET /api/executions`, empty for `none`; null for `rest`.',
    ),
  label: z.string().describe('For people; a deleted agent is marked with " (deleted)".'),
  cost,
  cost_estimated: CostEstimated,
  runs: count.describe('Runs with a cost.'),
})

const CostLimit = z.object({
  kind: z
    .enum(['platform', 'agent'])
    .describe('`platform`: the daily alert limit, for admins. `agent`: the daily spend cap of an agent.'),
  agent_name: z.string().nullable(),
  daily_usd: Money,
  spent_today_usd: Money.describe('The figure that is compared with the limit: today in UTC.'),
  cost_estimated: CostEstimated,
})
export type CostLimit = z.output<typeof CostLimit>

export const Costs = z
  .object({
    from: date,
    to: date.describe('Inclusive.'),
    group_by: z.enum(costGroupings),
    total_cost: cost,
    cost_estimated: CostEstimated,
    runs: count.describe('Runs with a cost.'),
    groups: z.array(CostGroup).describe('Most expensive first; `rest` is the last one.'),
    overlaps: z
      .boolean()
      .describe('Agents have several tags and count for each, so the groups add up to more than the total.'),
    days: z
      .array(
        z.object({
          date,
          cost,
          by_group: z.array(cost).describe('In the order of `groups`.'),
        }),
      )
      .describe('Every UTC day of the period, oldest first.'),
    top_runs: z.array(ExecutionSummary).describe('The 10 most expensive runs of the period.'),
    limits: z.array(CostLimit).describe('At most 20, the most used first.'),
    forecast: z
      .object({
        month: z.string().describe('The current month in UTC, `2026-01`.'),
        spent: cost.describe('Since the start of the month.'),
        cost_estimated: CostEstimated,
        daily_average: cost.describe('Of the last 7 days, or since the first run in them.'),
        expected: cost.describe('`spent` and the daily average for the rest of the month.'),
      })
      .describe('Regardless of the period.'),
  })
  .meta({ id: 'Costs' })
export type Costs = z.output<typeof Costs>

export const getCosts = endpoint({
  id: 'getCosts',
  method: 'GET',
  path: '/api/costs',
  summary: 'Cost of runs by day and group, with limits and a forecast of the month',
  description: `Covers the runs that \`GET /api/executions\` lists for the caller. A run counts on the UTC day on which it was created. At most ${maxCostDays} days. \`csv\` has a line for each day and group with a cost.`,
  tag: 'Executions',
  access: { who: 'any', scopes: ['ops'] },
  query: z.object({
    from: Day.optional().describe('First UTC day; default: 29 days before `to`.'),
    to: Day.optional().describe('Last UTC day, inclusive; default: today.'),
    group_by: z.enum(costGroupings).default('agent'),
    agent: z.string().max(63).optional().describe('The name of one agent.'),
    format: z.enum(['json', 'csv']).default('json'),
  }),
  returns: Costs,
  streams: ['text/csv'],
  replyHeaders: ['Content-Disposition'],
  fails: ['unknown_filter'],
})
