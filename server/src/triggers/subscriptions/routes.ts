import {
  createEventSubscription,
  deleteEventSubscription,
  emitAgentEvent,
  emitEvent,
  getEventSubscription,
  listAgentEvents,
  listEventSubscriptions,
  listEvents,
  updateEventSubscription,
} from '@roost/contracts/triggers/events'
import { agentRoute, type Route, signedInRoute } from '../../http/route.ts'
import type { Subscriptions } from './service.ts'

export function subscriptionRoutes(
  subscriptions: Omit<Subscriptions, 'agentDeleted' | 'loops' | 'settled'>,
): Route[] {
  return [
    signedInRoute(emitEvent, async ({ caller, body, request }) => {
      const event = await subscriptions.emit(caller, body)
      request.note({ event_id: event.id, event_type: event.event_type })
      return event
    }),
    agentRoute(emitAgentEvent, async ({ caller, agent, body, request }) => {
      const event = await subscriptions.emitAs(caller, agent, body)
      request.note({ event_id: event.id, event_type: event.event_type })
      return event
    }),
    signedInRoute(listEvents, async ({ caller, query }) => {
      const events = await subscriptions.events(caller, query)
      return { count: events.length, events }
    }),
    agentRoute(listAgentEvents, async ({ caller, agent, query }) => {
      const events = await subscriptions.eventsOf(caller, agent.id, query)
      return { count: events.length, events }
    }),
    agentRoute(createEventSubscription, async ({ caller, agent, body, request }) => {
      const subscription = await subscriptions.create(caller, agent, body)
      request.note({ subscription_id: subscription.id })
      return subscription
    }),
    agentRoute(listEventSubscriptions, async ({ caller, agent, query }) => {
      const found = await subscriptions.list(caller, agent.id, query)
      return { count: found.length, subscriptions: found }
    }),
    signedInRoute(getEventSubscription, ({ caller, params }) => subscriptions.get(caller, params.id)),
    signedInRoute(updateEventSubscription, async ({ caller, params, body, request }) => {
      request.note({ subscription_id: params.id })
      return subscriptions.update(caller, params.id, body)
    }),
    signedInRoute(deleteEventSubscription, async ({ caller, params, request }) => {
      request.note({ subscription_id: params.id })
      await subscriptions.remove(caller, params.id)
      return { status: 'deleted' as const, subscription_id: params.id }
    }),
  ]
}
