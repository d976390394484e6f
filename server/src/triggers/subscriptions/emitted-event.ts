import type { FieldsOf } from '@roost/contracts/kit/event'
import type { agentEventEmitted } from '@roost/contracts/triggers/events'
import type { NewEvent } from '../../foundation/outbox/index.ts'
import type { EventRow } from './event-store.ts'

/** Told to those who reach the source. A person's event names no agent, and would be told to everybody. */
export function emittedEvent(event: EventRow, triggered: number): NewEvent {
  const { source_agent, source_agent_id, event_type } = event
  const fields: FieldsOf<typeof agentEventEmitted> = {
    event_id: event.id,
    source_agent,
    event_type,
    subscriptions_triggered: triggered,
  }
  if (source_agent_id === null) {
    return { type: 'agent.event', agent_names: [], agent_ids: [], audience: 'admin', fields }
  }
  return { type: 'agent.event', agent_names: [source_agent], agent_ids: [source_agent_id], fields }
}
