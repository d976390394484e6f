import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'

export const metricTypes = ['counter', 'gauge', 'percentage', 'status', 'duration', 'bytes'] as const
export const metricStates = ['ok', 'warning', 'critical', 'unknown'] as const
export type MetricType = (typeof metricTypes)[number]
export type MetricState = (typeof metricStates)[number]

/** A metric as a template declares it. */
export const DeclaredMetric = z.object({
  name: z.string().min(1).max(200),
  type: z.enum(metricTypes),
  label: z.string().max(200).nullish(),
  unit: z.string().max(50).nullish(),
  warning_threshold: z.number().nullish(),
  critical_threshold: z.number().nullish(),
  /** The possible values of a `status` with their colours. */
  values: z
    .array(
      z.object({
        value: z.union([z.string(), z.number(), z.boolean()]),
        color: z.string().max(50).nullish(),
      }),
    )
    .max(100)
    .nullish(),
})
export type DeclaredMetric = z.output<typeof DeclaredMetric>

export const Metric = z
  .object({
    name: z.string(),
    type: z.enum(metricTypes),
    label: z.string(),
    unit: z.string().nullable(),
    value: z.union([z.number(), z.string()]).nullable().describe('Text for a `status`, otherwise a number.'),
    state: z.enum(metricStates),
  })
  .meta({ id: 'AgentMetric' })
export type Metric = z.output<typeof Metric>

export const AgentMetrics = z.object({
  agent_name: z.string(),
  metrics: z.array(Metric),
  read_at: Timestamp.nullable().describe('Null: the agent has no values, and all states are `unknown`.'),
})
export type AgentMetrics = z.output<typeof AgentMetrics>

export const getAgentMetrics = endpoint({
  id: 'getAgentMetrics',
  method: 'GET',
  path: '/api/agents/{name}/metrics',
  summary: 'The metrics declared by the template, with their values from the agent’s `metrics.json`',
  description:
    'A number at or beyond a threshold has the state of the threshold. If the critical threshold is the lower one, low values are worse. The state of a `status` follows from the colour of its value.',
  tag: 'Agents',
  access: { who: 'access' },
  params: AgentParams,
  returns: AgentMetrics,
  fails: ['agent_not_found'],
})
