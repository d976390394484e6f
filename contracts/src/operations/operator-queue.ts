import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { inQuery } from '../kit/in-query.ts'
import { jsonObject } from '../kit/json.ts'
import { AgentParams, Id, queryInteger, Timestamp, TimestampInput } from '../kit/primitives.ts'

export { getQueueStats } from './queue-stats.ts'

export const operatorQueueTag = 'Operator queue'
const tag = operatorQueueTag

export const itemTypes = ['approval', 'question', 'alert'] as const
export const itemStatuses = ['pending', 'responded', 'acknowledged', 'cancelled', 'expired'] as const
/** A filter for all items that are not pending; no item has this status. */
export const resolved = 'resolved'
/** Most urgent first. */
export const itemPriorities = ['critical', 'high', 'medium', 'low'] as const
export const alertKinds = [
  'sync_failing',
  'fleet_reinject_failed',
  'restart_loop',
  'workspace_replaced',
  'validation_failed',
  'legacy_library_refused',
  'remote_credential',
  'workspace_unreadable',
  'skills_removal_refused',
  'retention_held',
  'cost_limit',
  'stuck_run',
  'breaker_open',
  'subscription_switched',
  'agent_unhealthy',
  'disk_quota',
  'history_quota',
  'failed_run_undone',
  'program_outdated',
  'template_missing',
  'backup_failed',
  'backup_verification_failed',
  'versions_differ',
] as const
export type ItemType = (typeof itemTypes)[number]
export type ItemStatus = (typeof itemStatuses)[number]
export type ItemPriority = (typeof itemPriorities)[number]
export type AlertKind = (typeof alertKinds)[number]

/** An alert from a feature of the platform to operators. At most one per agent and kind is pending. */
export type PlatformAlert = {
  /** Null: not about a single agent; only admins see it. */
  agentId: string | null
  kind: AlertKind
  /** Truncated to 300 characters. */
  title: string
  /** What to do; at most 4,000 characters. */
  question?: string
  priority: ItemPriority
  /** Data for the investigation; no secrets. */
  context: Record<string, unknown>
  executionId?: string
  /** Alerts about different runs do not replace each other. */
  isPerRun?: boolean
}

/** Maximum of pending asks per agent. */
export const mostPendingAsks = 100
export const agingHours = 24
export const shortestAskMinutes = 15
export const mostListed = 500
export const queueOrders = ['newest', 'urgent'] as const
export type QueueOrder = (typeof queueOrders)[number]

const kibibyte = 1024
const smallObject = jsonObject(8)
const Options = z.array(z.string().trim().min(1).max(200)).max(20)

export const requestIdPattern = /^[A-Za-z0-9._:-]{1,256}$/
export const RequestId = z
  .string()
  .regex(requestIdPattern, 'must be 1 to 256 characters: letters, digits, ".", "_", ":" and "-"')

/** Fields of an ask, both in the API and in the file. */
export const askFields = {
  title: z.string().trim().min(1).max(300),
  question: z.string().max(4000).nullish(),
  type: z
    .enum(itemTypes)
    .nullish()
    .transform((value) => value ?? 'question'),
  priority: z
    .enum(itemPriorities)
    .nullish()
    .transform((value) => value ?? 'medium'),
  options: Options.nullish().transform((value) => value ?? []),
  context: smallObject.nullish().transform((value) => value ?? {}),
}

export const AskBody = z
  .object({
    request_id: RequestId.describe('A second request with the same id returns the existing item.'),
    ...askFields,
    proposal: z
      .union([z.string().max(8 * kibibyte), smallObject])
      .nullish()
      .describe('What the agent proposes to do; text or an object of at most 8 KiB.'),
    expires_at: TimestampInput.nullish().describe(
      'At least 15 minutes ahead. An expired ask counts as refused.',
    ),
    to_email: z.email().max(254).nullish().describe('A person the agent is shared with, who may answer too.'),
  })
  .refine(({ type, options }) => type !== 'approval' || options.length > 0, {
    path: ['options'],
    message: 'must have options for an approval',
  })
export type AskBody = z.output<typeof AskBody>

const text = z.string().nullable()
const time = Timestamp.nullable()
const count = z.number().int()

export const QueueItem = z
  .object({
    id: Id,
    agent_name: text,
    request_id: text,
    type: z.enum(itemTypes),
    kind: z.enum(alertKinds).nullable().describe('Kind of an alert of the platform; otherwise null.'),
    status: z.enum(itemStatuses),
    priority: z.enum(itemPriorities),
    title: z.string(),
    question: text,
    options: z.array(z.string()),
    context: z.record(z.string(), z.unknown()),
    proposal: z.union([z.string(), z.record(z.string(), z.unknown())]).nullable(),
    execution_id: text.describe('The run that the item is about, or that the answer started.'),
    addressed_to_email: text,
    created_at: Timestamp,
    expires_at: time,
    response: text,
    response_text: text,
    responded_by_id: text,
    responded_by_email: text,
    responded_at: time,
    acknowledged_at: time.describe('When the agent read the answer.'),
    disposition: z.enum(['answered', 'cancelled', 'expired']).nullable(),
    disposition_reason: text,
    batch_id: text,
    aging: z.boolean().describe('Pending for more than 24 hours.'),
    source: z.enum(['api', 'file', 'platform']),
    diverged: z.boolean().describe('The entry in the file has changed since.'),
    entry_now: z
      .object({
        title: z.string(),
        question: text,
        type: z.enum(itemTypes),
        priority: z.enum(itemPriorities),
        options: z.array(z.string()),
        context: z.record(z.string(), z.unknown()),
      })
      .nullable()
      .describe('The current entry of a diverged item.'),
  })
  .meta({ id: 'QueueItem' })
export type QueueItem = z.output<typeof QueueItem>

const filters = {
  status: z
    .enum([...itemStatuses, resolved])
    .optional()
    .describe('`resolved`: all items that are not pending.'),
  type: z.enum(itemTypes).optional(),
  priority: z.enum(itemPriorities).optional(),
  since: TimestampInput.optional().describe('Created at or after this time.'),
  limit: queryInteger(1, mostListed, 100),
  offset: queryInteger(0, 1_000_000, 0),
  order: z
    .enum(queueOrders)
    .default('newest')
    .describe(
      '`urgent`: pending items first, by priority and then by waiting time; then the rest, newest first.',
    ),
}
export const QueueQuery = z.object({ ...filters, agent_name: z.string().max(100).optional() })
export type QueueQuery = z.output<typeof QueueQuery>
const AgentQueueQuery = z.object(filters)

export const QueuePage = z.object({
  items: z.array(QueueItem),
  total: count,
  has_more: z.boolean(),
  next_offset: count.nullable(),
})
export type QueuePage = z.output<typeof QueuePage>

export const Answer = {
  response: z.string().trim().min(1).max(8000).describe('One of the options if the item has options.'),
  response_text: z.string().max(8000).nullish(),
}
export const RespondBody = z.object({
  ...Answer,
  acknowledge_divergence: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
})
export type RespondBody = z.output<typeof RespondBody>

export const Reason = z
  .string()
  .max(500)
  .nullish()
  .transform((value) => value ?? null)
const ItemParams = z.object({ id: z.string() })

export const listQueue = endpoint({
  id: 'listOperatorQueue',
  method: 'GET',
  path: '/api/operator-queue',
  summary: 'List the operator queue, newest first',
  description:
    'Operators and owners see the items of their agents, admins all items, and others those addressed to them. An agent sees its own.',
  tag,
  access: { who: 'any' },
  query: QueueQuery,
  returns: QueuePage,
})

const ClearBody = z.object({
  agent_name: z.string().max(100).nullish().describe('Only the items of this agent.'),
})

export const clearResolvedItems = endpoint({
  id: 'clearResolvedOperatorItems',
  method: 'POST',
  path: '/api/operator-queue/clear-resolved',
  summary: 'Remove resolved items from the lists',
  tag,
  access: { who: 'any', gate: 'person' },
  strict: true,
  query: inQuery(ClearBody),
  body: ClearBody,
  bodyOptional: true,
  returns: z.object({ cleared: count }),
  fails: ['agent_not_found'],
  audit: { type: 'operator_queue', action: 'clear_resolved' },
})

export const getQueueItem = endpoint({
  id: 'getOperatorItem',
  method: 'GET',
  path: '/api/operator-queue/{id}',
  summary: 'One item',
  tag,
  access: { who: 'any' },
  params: ItemParams,
  returns: QueueItem,
  fails: ['not_found'],
})

export const respondToItem = endpoint({
  id: 'respondToOperatorItem',
  method: 'POST',
  path: '/api/operator-queue/{id}/respond',
  summary: 'Answer an item',
  description:
    'With operator-resume enabled, the answer starts one run of the agent with question and answer. Otherwise the agent reads it later. `item_diverged` means that the entry in the file has changed; the error contains the current entry.',
  tag,
  access: { who: 'any', gate: 'person', refuses: ['system'] },
  params: ItemParams,
  body: RespondBody,
  returns: QueueItem,
  fails: ['not_found', 'item_not_pending', 'item_diverged', 'option_not_offered'],
  audit: { type: 'operator_queue', action: 'respond' },
})

export const cancelItem = endpoint({
  id: 'cancelOperatorItem',
  method: 'POST',
  path: '/api/operator-queue/{id}/cancel',
  summary: 'Withdraw an item without an answer',
  tag,
  access: { who: 'any', gate: 'person' },
  params: ItemParams,
  body: z.object({ reason: Reason }),
  bodyOptional: true,
  returns: QueueItem,
  fails: ['not_found', 'item_not_pending', 'role_required'],
  audit: { type: 'operator_queue', action: 'cancel' },
})

export const askOperator = endpoint({
  id: 'askOperator',
  method: 'POST',
  path: '/api/agents/{name}/operator-queue',
  summary: 'Ask the people behind the agent',
  description:
    '201 for a new ask; 200 with the existing item for a `request_id` that was used before. Runs for a person with a share have ids of their own, one set per person.',
  tag,
  access: { who: 'agent' },
  params: AgentParams,
  body: AskBody,
  status: 201,
  returns: QueueItem,
  also: [{ status: 200, when: 'The existing item with this `request_id`.' }],
  fails: ['agent_not_found', 'rate_limited', 'queue_full'],
  audit: { type: 'operator_queue', action: 'ask' },
})

export const listAgentQueue = endpoint({
  id: 'listAgentOperatorQueue',
  method: 'GET',
  path: '/api/agents/{name}/operator-queue',
  summary: 'Items of one agent that the caller may see',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  query: AgentQueueQuery,
  returns: QueuePage,
  fails: ['agent_not_found'],
})

export const getAsk = endpoint({
  id: 'getOperatorAsk',
  method: 'GET',
  path: '/api/agents/{name}/operator-queue/{request_id}',
  summary: 'Get an ask; reading an answer acknowledges it',
  tag,
  access: { who: 'agent' },
  params: z.object({ name: z.string(), request_id: z.string() }),
  returns: QueueItem,
  fails: ['agent_not_found', 'not_found'],
})
