import {
  createEventSubscription,
  deleteEventSubscription,
  emitEvent,
  listEventSubscriptions,
} from '@roost/contracts/triggers/events'
import { z } from 'zod'
import { Refusal } from '../refusals.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'
import { selfOf } from './reminders.ts'

const eventType = z
  .string()
  .min(1)
  .max(128)
  .describe(
    'Words joined by dots, such as "report.ready"; the platform itself emits "agent.task.completed" and "agent.task.failed".',
  )

export const eventTools: Tool[] = [
  tool({
    name: 'emit_event',
    isCore: true,
    description:
      'Tell that something has happened. Every agent that is subscribed to this kind of event is woken.',
    audience: 'everyone',
    effect: 'write',
    input: {
      event_type: eventType,
      payload: z.record(z.string(), z.unknown()).optional().describe('Facts for the agents that are woken.'),
    },
    run: ({ api }, body) => api.call(emitEvent, { body }),
  }),
  tool({
    name: 'subscribe_to_event',
    description: 'Be woken with a message whenever an event of this kind is emitted.',
    audience: 'agent',
    effect: 'write',
    input: {
      event_type: eventType,
      target_message: z
        .string()
        .min(1)
        .describe('What you are asked then; may hold {{payload.name}}, {{event_type}} and {{source_agent}}.'),
      source_agent: z.string().optional().describe('Only events of this agent; of any when left out.'),
      enabled: z.boolean().optional(),
    },
    run: (call, body) => call.api.call(createEventSubscription, { params: { name: selfOf(call) }, body }),
  }),
  tool({
    name: 'list_event_subscriptions',
    description: 'To which events an agent is subscribed; your own when you are an agent and name none.',
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName.optional() },
    run({ api, key }, { agent_name }) {
      const name = agent_name ?? key.agent_name
      if (name === null) throw new Refusal('invalid_parameters', 'agent_name: whose subscriptions?')
      return api.call(listEventSubscriptions, { params: { name } })
    },
  }),
  tool({
    name: 'delete_event_subscription',
    description: 'End a subscription: its agent is not woken by that event any more.',
    audience: 'everyone',
    effect: 'destroy',
    hides: true,
    input: { subscription_id: z.string().min(1) },
    run: ({ api }, { subscription_id }) =>
      api.call(deleteEventSubscription, { params: { id: subscription_id } }),
  }),
]
