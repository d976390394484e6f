import type { DropReason } from '@roost/contracts/triggers/events'

export type EventSubscriptionsTable = {
  id: string
  subscriber_agent_id: string
  /** Null for any agent that the subscriber may call. */
  source_agent_id: string | null
  /** The source's id, or empty; unique with subscriber and type. */
  source_key: string
  event_type: string
  target_message: string
  enabled: number
  last_triggered_at: string | null
  created_by: string
  created_at: string
  updated_at: string
}

export type AgentEventsTable = {
  id: string
  /** Name of the agent at that time, or the username of the person. */
  source_agent: string
  source_agent_id: string | null
  /** The person who emitted it in their own name. */
  source_user_id: string | null
  event_type: string
  /** JSON object. */
  payload: string | null
  /** JSON `Source` of the runs that follow. */
  source: string
  /** Of the run that emitted it; the runs that it causes are one deeper. */
  chain_depth: number
  /** Number of matches; null until the event is matched. */
  subscriptions_triggered: number | null
  created_at: string
}

/** One delivery: an agent that an event wakes. */
export type AgentEventDeliveriesTable = {
  event_id: string
  subscription_id: string
  agent_id: string
  /** At that time. */
  agent_name: string
  state: 'pending' | 'done'
  execution_id: string | null
  dropped: DropReason | null
}

export type SubscriptionTables = {
  event_subscriptions: EventSubscriptionsTable
  agent_events: AgentEventsTable
  agent_event_deliveries: AgentEventDeliveriesTable
}
