import { z } from 'zod'
import { runtimes } from '../agents/agent.ts'
import { shownPath } from '../agents/workspace-history.ts'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { ModelOverride } from '../kit/model.ts'
import { AgentParams, Id, Money, queryInteger, Timestamp } from '../kit/primitives.ts'
import { maxCheckCommand, maxCheckSeconds } from '../link/check.ts'
import { CostEstimated } from './cost.ts'
import { executionErrorCodes } from './executions.ts'
import { AllowedTools, MessageText, RunTimeout } from './request.ts'

const tag = 'Attempts'
const path = '/api/agents/{name}/attempts'

export const maxAttempts = 10
export const defaultMaxCostUsd = 10
export const defaultCheckSeconds = 600
/** Days after which a set whose attempts have ended is discarded. */
export const attemptsKeptDays = 7
/** Characters of a result in the set; the run has the rest. */
export const maxShownResult = 20_000

export const AttemptVariant = z.object({
  runtime: z.enum(runtimes).nullish().describe("Default: the agent's."),
  model: ModelOverride.describe("Default: the agent's, or the default of another runtime."),
})
export type AttemptVariant = z.output<typeof AttemptVariant>

const CheckCommand = z
  .string()
  .max(maxCheckCommand)
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine((text) => !text.includes('\0'), 'must not contain a null character')

export const attemptPicks = ['manual', 'best_check'] as const

export const AttemptsBody = z
  .object({
    messages: z
      .array(MessageText)
      .min(1, 'must have 1 to 10 messages')
      .max(maxAttempts, 'must have 1 to 10 messages')
      .describe('The task. Several messages are tried against each other.'),
    variants: z
      .array(AttemptVariant)
      .min(1, 'must have 1 to 10 variants')
      .max(maxAttempts, 'must have 1 to 10 variants')
      .default([{}])
      .describe('Runtimes and models to compare.'),
    repeats: z.number().int().min(1).max(maxAttempts).default(1),
    max_cost_usd: z
      .number()
      .positive('must be above 0')
      .max(10_000)
      .default(defaultMaxCostUsd)
      .describe('Cap for the cost of all attempts together, estimates included.'),
    check: CheckCommand.nullish()
      .transform((value) => value ?? null)
      .describe(
        "A command for bash that runs in each attempt's workspace after its run. Exit code 0 means passed.",
      ),
    check_timeout_seconds: z.number().int().min(1).max(maxCheckSeconds).default(defaultCheckSeconds),
    pick: z
      .enum(attemptPicks)
      .default('manual')
      .describe(
        '`best_check` keeps the best attempt without asking: the check passed, then the lowest cost, then the shortest run, then the lowest number. It keeps none if no check passed, or if files changed meanwhile.',
      ),
    timeout_seconds: RunTimeout.nullish().transform((value) => value ?? null),
    allowed_tools: AllowedTools.nullish().transform((value) => value ?? null),
  })
  .refine(
    ({ messages, variants, repeats }) => messages.length * variants.length * repeats <= maxAttempts,
    'must not ask for more than 10 attempts: messages × variants × repeats',
  )
export type AttemptsBody = z.output<typeof AttemptsBody>

/** `recording`: the workspace is recorded, as the base of all attempts. `done`: one can be kept. */
export const attemptSetStatuses = [
  'recording',
  'working',
  'done',
  'keeping',
  'kept',
  'discarded',
  'failed',
] as const
export type AttemptSetStatus = (typeof attemptSetStatuses)[number]

export const attemptStatuses = [
  'waiting',
  'forking',
  'running',
  'recording',
  'checking',
  'done',
  'failed',
  'cancelled',
] as const
export type AttemptStatus = (typeof attemptStatuses)[number]

const integer = z.number().int()

export const AttemptCheckResult = z.object({
  exit_code: integer.nullable().describe('Null after a timeout, and if a signal ended it.'),
  timed_out: z.boolean(),
  output: z.string().describe('The last 20,000 characters of both streams.'),
  truncated: z.boolean(),
  duration_ms: integer,
})

export const Attempt = z.object({
  number: integer.describe('From 1, in the order of the request.'),
  status: z.enum(attemptStatuses),
  message: z.string(),
  runtime: z.string(),
  model: z.string().nullable().describe("Null: the runtime's or the agent's default."),
  execution_id: Id.nullable().describe("The run. It is one of the agent's runs once the attempt has ended."),
  result: z.string().nullable().describe('The first 20,000 characters.'),
  error: z.string().nullable(),
  error_code: z.enum(executionErrorCodes).nullable(),
  cost: Money,
  cost_estimated: CostEstimated,
  duration_ms: integer.nullable().describe('Of the run.'),
  steps: integer.nullable().describe('Calls of tools.'),
  check: AttemptCheckResult.nullable(),
  record: z.string().nullable().describe('The workspace after the run, as a record of the agent.'),
  changes: z
    .object({ added: integer, changed: integer, deleted: integer, renamed: integer })
    .nullable()
    .describe('Files that differ from the base.'),
})
export type Attempt = z.output<typeof Attempt>

export const keepStates = ['working', 'kept', 'failed'] as const

export const AttemptKeep = z.object({
  attempt: integer,
  state: z.enum(keepStates),
  reason: z.string().nullable().describe('Why it failed. `changed_meanwhile`: see the conflicts.'),
  message: z.string().nullable(),
  conflicts: z.array(z.object({ ...shownPath, reason: z.string() })).describe('The first paths in conflict.'),
  conflict_count: integer,
  undo_record: z.string().nullable().describe('The record made before: restore it to undo.'),
})
export type AttemptKeep = z.output<typeof AttemptKeep>

const summary = {
  id: Id,
  agent_name: z.string(),
  status: z.enum(attemptSetStatuses),
  message: z.string().nullable().describe('Why it failed.'),
  task: z.string().describe('The first 200 characters of the first message.'),
  total: integer,
  ended: integer.describe('Attempts that have ended.'),
  passed: integer.describe('Attempts whose check passed; without a check, those whose run succeeded.'),
  cost: Money,
  max_cost_usd: Money,
  kept: integer.nullable().describe('Number of the attempt that was kept.'),
  created_by: z.string().nullable().describe('User name.'),
  created_at: Timestamp,
  ended_at: Timestamp.nullable().describe('When it was kept, discarded, or failed.'),
}

export const AttemptSetSummary = z.object(summary)
export type AttemptSetSummary = z.output<typeof AttemptSetSummary>

export const AttemptSet = z
  .object({
    ...summary,
    pick: z.enum(attemptPicks),
    check: z.object({ command: z.string(), timeout_seconds: integer }).nullable(),
    base_record: z.string().nullable().describe('The workspace before: the base of all attempts.'),
    expires_at: Timestamp.nullable().describe('When it is discarded, unless an attempt is kept before.'),
    attempts: z.array(Attempt),
    keep: AttemptKeep.nullable().describe('The latest attempt to keep one.'),
  })
  .meta({ id: 'AttemptSet' })
export type AttemptSet = z.output<typeof AttemptSet>

const SetParams = AgentParams.extend({ set: z.string() })
const access = { who: 'owner', gate: 'person' } as const

export const startAttempts = endpoint({
  id: 'startAttempts',
  method: 'POST',
  path,
  summary: 'Try one task several times, each on a fork of the agent',
  description:
    'The workspace is recorded as the base of all attempts, which run at the same time. A set waits up to two minutes for an agent that has just started. One can be kept: its changes become the workspace. An agent has one set at work.',
  tag,
  access,
  params: AgentParams,
  body: AttemptsBody,
  status: 202,
  returns: AttemptSet,
  headers: ['X-Via-MCP'],
  fails: ['agent_not_found', 'agent_not_running', 'invalid_model', 'system_agent_protected', 'conflict'],
  audit: { type: 'execution', action: 'start_attempts' },
})

export const listAttempts = endpoint({
  id: 'listAttempts',
  method: 'GET',
  path,
  summary: 'Sets of attempts of an agent, newest first',
  tag,
  access,
  params: AgentParams,
  query: z.object({ limit: queryInteger(1, 100, 20), offset: queryInteger(0, 100_000, 0) }),
  returns: z.object({ sets: z.array(AttemptSetSummary), total: integer }),
  fails: ['agent_not_found'],
})

export const getAttempts = endpoint({
  id: 'getAttempts',
  method: 'GET',
  path: `${path}/{set}`,
  summary: 'A set of attempts with the results so far',
  description:
    'Compare files with the records of the agent: `record` of an attempt, since `base_record` of the set.',
  tag,
  access,
  params: SetParams,
  returns: AttemptSet,
  fails: ['agent_not_found', 'not_found'],
})

export const KeepBody = z.object({
  attempt: z.number().int().min(1).max(maxAttempts),
  on_conflict: z
    .enum(['refuse', 'overwrite'])
    .default('refuse')
    .describe('For files that changed in the agent as well since the base.'),
  when_busy: z
    .enum(['wait', 'stop', 'refuse'])
    .default('refuse')
    .describe('While runs of the agent work: wait for them, stop them, or fail with `agent_busy`.'),
})

export const keepAttempt = endpoint({
  id: 'keepAttempt',
  method: 'POST',
  path: `${path}/{set}/keep`,
  summary: "Keep one attempt: its changes become the agent's workspace",
  description:
    'Files that only the agent changed since the base stay as they are. The workspace is recorded before, so that it can be undone. When it is complete, all attempts are removed.',
  tag,
  access,
  params: SetParams,
  body: KeepBody,
  status: 202,
  returns: AttemptSet,
  fails: [
    'agent_not_found',
    'not_found',
    'agent_stopped',
    'agent_busy',
    'agent_unresponsive',
    'record_not_found',
    'conflict',
  ],
  audit: { type: 'configuration', action: 'keep_attempt' },
})

export const cancelAttempts = endpoint({
  id: 'cancelAttempts',
  method: 'POST',
  path: `${path}/{set}/cancel`,
  summary: 'Stop the attempts that still work; those that have ended remain',
  tag,
  access,
  params: SetParams,
  returns: AttemptSet,
  fails: ['agent_not_found', 'not_found'],
  audit: { type: 'execution', action: 'cancel_attempts' },
})

export const discardAttempts = endpoint({
  id: 'discardAttempts',
  method: 'POST',
  path: `${path}/{set}/discard`,
  summary: 'Discard all attempts of a set',
  tag,
  access,
  strict: true,
  params: SetParams,
  returns: AttemptSet,
  fails: ['agent_not_found', 'not_found', 'conflict'],
  audit: { type: 'execution', action: 'discard_attempts' },
})

export const deleteAttempts = endpoint({
  id: 'deleteAttempts',
  method: 'DELETE',
  path: `${path}/{set}`,
  summary: 'Delete a set that has ended',
  description: 'The runs of its attempts stay in the list of runs.',
  tag,
  access,
  params: SetParams,
  returns: z.object({ message: z.string() }),
  fails: ['agent_not_found', 'not_found', 'conflict'],
  audit: { type: 'execution', action: 'delete_attempts' },
})

export const attemptsChanged = eventType({
  name: 'attempts.changed',
  stored: true,
  fields: z.object({ attempt_set_id: Id, status: z.enum(attemptSetStatuses) }),
})
