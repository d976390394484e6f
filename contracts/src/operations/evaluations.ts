import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { AgentParams, Id, queryInteger, Timestamp } from '../kit/primitives.ts'

const tag = 'Evaluations'

export const EvaluationBody = z.object({
  score: z.number().int().min(0).max(100),
  verdict: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .nullish()
    .transform((value) => value ?? null),
  notes: z
    .string()
    .max(4000)
    .nullish()
    .transform((value) => value ?? null),
  execution_id: Id.nullish()
    .transform((value) => value ?? null)
    .describe('The evaluated run; omit it to evaluate the agent as a whole.'),
})
export type EvaluationBody = z.output<typeof EvaluationBody>

export const Evaluation = z
  .object({
    id: Id,
    agent_name: z.string(),
    score: z.number().int(),
    verdict: z.string().nullable(),
    notes: z.string().nullable(),
    execution_id: z.string().nullable(),
    created_by: z.string().describe('User name.'),
    created_at: Timestamp,
  })
  .meta({ id: 'Evaluation' })
export type Evaluation = z.output<typeof Evaluation>

const EvaluationsQuery = z.object({
  execution_id: Id.optional(),
  limit: queryInteger(1, 500, 50),
  offset: queryInteger(0, 1_000_000, 0),
})
export type EvaluationsQuery = z.output<typeof EvaluationsQuery>

export const listEvaluations = endpoint({
  id: 'listEvaluations',
  method: 'GET',
  path: '/api/agents/{name}/evaluations',
  summary: 'List evaluations of an agent, newest first',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: EvaluationsQuery,
  returns: z.array(Evaluation),
  replyHeaders: ['X-Total-Count'],
  fails: ['agent_not_found'],
})

export const createEvaluation = endpoint({
  id: 'createEvaluation',
  method: 'POST',
  path: '/api/agents/{name}/evaluations',
  summary: 'Evaluate an agent or one of its runs',
  tag,
  access: { who: 'owner', gate: 'human' },
  params: AgentParams,
  body: EvaluationBody,
  status: 201,
  returns: Evaluation,
  fails: ['agent_not_found', 'execution_not_found', 'human_only'],
  audit: { type: 'configuration', action: 'create_evaluation' },
})
