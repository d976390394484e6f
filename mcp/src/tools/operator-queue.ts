import {
  askOperator,
  getAsk,
  getQueueItem,
  listQueue,
  QueueItem,
  respondToItem,
} from '@roost/contracts/operations/operator-queue'
import { Refusal } from '../refusals.ts'
import { asQuery, bodyOf, described, pathOf, queryOf, request, without } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { reasons, words } from './parameters.ts'
import { selfOf } from './reminders.ts'

const byId = { as: { '{id}': 'item_id' } }
const one = {
  item_id: pathOf(getQueueItem).id.describe('The id of the item, as list_operator_queue returns it.'),
} as const

export const operatorQueueTools: Tool[] = [
  tool({
    name: 'list_operator_queue',
    description: 'Questions, approvals and alerts of agents that wait for a person, and resolved ones.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(listQueue)],
    input: described(queryOf(listQueue), {
      agent_name: 'Only items of this agent.',
      status: '"resolved": all items that no longer wait.',
      since: 'ISO 8601; items created at this time or later.',
      limit: words.limit,
      offset: words.offset,
      order: '"urgent": pending items first, by priority and age; then the rest, newest first.',
    }),
    run: ({ api }, query) => api.call(listQueue, { query: asQuery(query) }),
  }),
  tool({
    name: 'get_operator_queue_item',
    description: 'One item of the operator queue with all its fields.',
    audience: 'everyone',
    effect: 'read',
    hides: true,
    requests: [request(getQueueItem, byId)],
    input: one,
    output: QueueItem,
    run: ({ api }, { item_id }) => api.call(getQueueItem, { params: { id: item_id } }),
  }),
  tool({
    name: 'respond_to_operator_queue',
    description: 'Answer a question or decide an approval. Only a person may: ask your person before you do.',
    audience: 'person',
    effect: 'write',
    requests: [
      request(respondToItem, {
        ...byId,
        leftOut: {
          acknowledge_divergence: 'A person confirms a changed item after reading it in the web UI.',
        },
      }),
    ],
    input: {
      ...one,
      ...described(without(bodyOf(respondToItem), 'acknowledge_divergence'), {
        response: 'One of the offered options, if there are any.',
        response_text: 'A comment for the agent.',
      }),
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
      'Ask the people responsible for you a question or for an approval, or report a problem. The item waits in their inbox; get_my_ask returns the answer. Continue with other work meanwhile.',
    audience: 'agent',
    effect: 'write',
    requests: [request(askOperator, { leftOut: { '{name}': reasons.self } })],
    input: described(bodyOf(askOperator), {
      request_id: 'Your own id for it; a repeated call with the same id does not ask twice.',
      type: 'Defaults to question; an approval needs options.',
      options: 'The answers to choose from.',
      context: 'Facts that help to decide.',
      proposal: 'What you would do.',
      to_email: 'A person who gets it as well; the agent must be shared with them.',
      expires_at: 'ISO 8601, at least 15 minutes ahead; an unanswered ask counts as refused after that.',
    }),
    output: QueueItem,
    run: (call, body) => call.api.call(askOperator, { params: { name: selfOf(call) }, body }),
  }),
  tool({
    name: 'get_my_ask',
    description: 'Whether something you asked was answered, and how.',
    audience: 'agent',
    effect: 'read',
    hides: true,
    requests: [request(getAsk, { leftOut: { '{name}': reasons.self } })],
    input: {
      request_id: pathOf(getAsk).request_id.describe('The request_id that you gave to ask_operator.'),
    },
    output: QueueItem,
    run: (call, { request_id }) => call.api.call(getAsk, { params: { name: selfOf(call), request_id } }),
  }),
]
