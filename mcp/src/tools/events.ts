import {
  createEventSubscription,
  deleteEventSubscription,
  emitEvent,
  listEventSubscriptions,
} from '@roost/contracts/triggers/events'
import { Refusal } from '../refusals.ts'
import { asQuery, bodyOf, described, pathOf, queryOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, reasons, words } from './parameters.ts'
import { selfOf } from './reminders.ts'

const eventType =
  'Words joined by dots, such as "report.ready"; the platform itself emits "agent.task.completed" and "agent.task.failed".'

export const eventTools: Tool[] = [
  tool({
    name: 'emit_event',
    isCore: true,
    description: 'Announce that something has happened. Wakes every agent that subscribes to this event.',
    audience: 'everyone',
    effect: 'write',
    requests: [request(emitEvent)],
    input: described(bodyOf(emitEvent), {
      event_type: eventType,
      payload: 'Facts for the agents that are woken.',
    }),
    run: ({ api }, body) => api.call(emitEvent, { body }),
  }),
  tool({
    name: 'subscribe_to_event',
    description: 'Be woken with a message whenever an event of this type is emitted.',
    audience: 'agent',
    effect: 'write',
    requests: [request(createEventSubscription, { leftOut: { '{name}': reasons.self } })],
    input: described(bodyOf(createEventSubscription), {
      event_type: eventType,
      target_message:
        'The message that you get; may contain {{payload.name}}, {{event_type}} and {{source_agent}}.',
      source_agent: 'Only events of this agent. Defaults to events of any agent.',
    }),
    run: (call, body) => call.api.call(createEventSubscription, { params: { name: selfOf(call) }, body }),
  }),
  tool({
    name: 'list_event_subscriptions',
    description: 'The event subscriptions of an agent; your own if you are an agent and name none.',
    audience: 'everyone',
    effect: 'read',
    requests: [
      request(listEventSubscriptions, {
        differs: { '{name}': 'An agent that leaves it out lists its own.' },
      }),
    ],
    input: {
      agent_name: agentName.optional(),
      ...described(queryOf(listEventSubscriptions), {
        direction: 'Subscriptions that wake the agent, that its events trigger, or both.',
        limit: words.limit,
      }),
    },
    run({ api, key }, { agent_name, ...query }) {
      const name = agent_name ?? key.agent_name
      if (name === null) throw new Refusal('invalid_parameters', 'agent_name: is required with this key.')
      return api.call(listEventSubscriptions, { params: { name }, query: asQuery(query) })
    },
  }),
  tool({
    name: 'delete_event_subscription',
    description: 'Delete a subscription: its event no longer wakes the agent.',
    audience: 'everyone',
    effect: 'destroy',
    hides: true,
    requests: [request(deleteEventSubscription, { as: { '{id}': 'subscription_id' } })],
    input: { subscription_id: pathOf(deleteEventSubscription).id.describe('The id of the subscription.') },
    run: ({ api }, { subscription_id }) =>
      api.call(deleteEventSubscription, { params: { id: subscription_id } }),
  }),
]
