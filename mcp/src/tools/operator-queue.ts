import {
  askOperator,
  getAsk,
  getQueueItem,
  itemPriorities,
  itemStatuses,
  itemTypes,
  listQueue,
  QueueItem,
  respondToItem,
} from '@roost/contracts/operations/operator-queue'
import { z } from 'zod'
import { Refusal } from '../refusals.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'
import { selfOf } from './reminders.ts'

const itemId = z.string().min(1).describe('The id of the item, as list_operator_queue gives it.')

export const operatorQueueTools: Tool[] = [
  tool({
    name: 'list_operator_queue',
    description:
      'Questions, approvals and alerts of agents that wait for a person, and those that were answered.',
    audience: 'everyone',
    effect: 'read',
    input: {
      agent_name: agentName.optional(),
      status: z.enum(itemStatuses).optional(),
      type: z.enum(itemTypes).optional(),
      priority: z.enum(itemPriorities).optional(),
      since: z.string().optional().describe('ISO 8601; items of this moment and later.'),
      limit: z.number().int().min(1).max(500).default(100),
      offset: z.number().int().min(0).optional(),
    },
    run: ({ api }, { limit, offset, ...query }) =>
      api.call(listQueue, {
        query: {
          ...query,
          limit: String(limit),
          ...(offset === undefined ? {} : { offset: String(offset) }),
        },
      }),
  }),
  tool({
    name: 'get_operator_queue_item',
    description: 'One item of the operator queue in full.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    input: { item_id: itemId },
    output: QueueItem,
    run: ({ api }, { item_id }) => api.call(getQueueItem, { params: { id: item_id } }),
  }),
  tool({
    name: 'respond_to_operator_queue',
    description: 'Answer a question or decide an approval. Only a person may: ask your person before you do.',
    audience: 'person',
    effect: 'write',
    input: {
      item_id: itemId,
      response: z.string().min(1).describe('One of the offered options, where there are any.'),
      response_text: z.string().max(8000).optional().describe('More words for the agent.'),
    },
    async run({ api, key }, { item_id, ...body }) {
      if (key.scope !== 'user') {
        throw new Refusal('person_required', 'Only a key of a person may answer for one.')
      }
      return api.call(respondToItem, { params: { id: item_id }, body })
    },
  }),
  tool({
    name: 'ask_operator',
    description:
      'Ask the people behind you something, or for an approval, or tell them of a problem. It waits in their inbox; get_my_ask tells whether it was answered. Go on with other work meanwhile.',
    audience: 'agent',
    effect: 'write',
    input: {
      request_id: z
        .string()
        .min(1)
        .max(256)
        .describe('Your own id for it; asking again with the same id does not ask twice.'),
      title: z.string().min(1).max(300),
      question: z.string().max(4000).optional(),
      type: z.enum(itemTypes).optional().describe('question when left out; an approval needs options.'),
      priority: z.enum(itemPriorities).optional(),
      options: z.array(z.string()).optional().describe('The answers to choose from.'),
      context: z.record(z.string(), z.unknown()).optional().describe('Facts that help to decide.'),
      proposal: z
        .union([z.string(), z.record(z.string(), z.unknown())])
        .optional()
        .describe('What you would do.'),
      to_email: z.string().optional().describe('A person to whom it goes instead of to the operators.'),
      expires_at: z.string().optional().describe('ISO 8601; unanswered until then counts as refused.'),
    },
    output: QueueItem,
    run: (call, body) => call.api.call(askOperator, { params: { name: selfOf(call) }, body }),
  }),
  tool({
    name: 'get_my_ask',
    description: 'Whether something you asked was answered, and how.',
    audience: 'agent',
    effect: 'read',
    hides: true,
    input: { request_id: z.string().min(1) },
    output: QueueItem,
    run: (call, { request_id }) => call.api.call(getAsk, { params: { name: selfOf(call), request_id } }),
  }),
]
