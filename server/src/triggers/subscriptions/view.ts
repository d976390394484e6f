import type { AgentEvent, EventSubscription } from '@roost/contracts/triggers/events'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent, AgentRecords } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { isAdmin } from '../../runs/executions/index.ts'
import type { DeliveryRow, EventRow } from './event-store.ts'
import type { SubscriptionRow } from './store.ts'

export type ViewDeps = {
  agentRecords: Pick<AgentRecords, 'byId'>
  agentAccess: Pick<AgentAccess, 'relationTo'>
}

/** The views of events and subscriptions for a caller, without agents that the caller must not know. */
export function createViews({ agentRecords, agentAccess }: ViewDeps) {
  /** An agent knows all agents of its owner, also those that it may not call. */
  async function mayKnow(caller: SignedIn, agent: Agent | null): Promise<boolean> {
    if (!agent) return isAdmin(caller)
    // The user of a limited run may be the owner, although its principal reaches less.
    const isLimited = caller.kind === 'key' && (caller.run?.reach ?? 'owner') !== 'owner'
    if (!isLimited && agent.owner_id === caller.user.id) return true
    return (await agentAccess.relationTo(caller, agent)) !== null
  }

  async function event(
    caller: SignedIn,
    row: EventRow,
    deliveries: readonly DeliveryRow[],
  ): Promise<AgentEvent> {
    const executions: AgentEvent['executions'] = []
    for (const { agent_id, agent_name, execution_id, dropped } of deliveries) {
      const agent = await agentRecords.byId(agent_id)
      if (!(await mayKnow(caller, agent))) continue
      executions.push({
        agent_name: agent?.name ?? agent_name,
        ...(execution_id === null ? {} : { execution_id }),
        ...(dropped === null ? {} : { dropped }),
      })
    }
    const source = row.source_agent_id === null ? null : await agentRecords.byId(row.source_agent_id)
    return {
      id: row.id,
      source_agent: source?.name ?? row.source_agent,
      event_type: row.event_type,
      // Validated when it was emitted.
      payload: row.payload === null ? null : (JSON.parse(row.payload) as Record<string, unknown>),
      subscriptions_triggered: row.subscriptions_triggered ?? 0,
      executions,
      created_at: row.created_at,
    }
  }

  /** Null if the caller must not know the subscriber. */
  async function subscription(caller: SignedIn, row: SubscriptionRow): Promise<EventSubscription | null> {
    const subscriber = await agentRecords.byId(row.subscriber_agent_id)
    if (!subscriber || !(await mayKnow(caller, subscriber))) return null
    const source = row.source_agent_id === null ? null : await agentRecords.byId(row.source_agent_id)
    const isHidden = source !== null && !(await mayKnow(caller, source))
    return {
      id: row.id,
      subscriber_agent: subscriber.name,
      source_agent: isHidden ? null : (source?.name ?? null),
      ...(isHidden ? { source_hidden: true } : {}),
      event_type: row.event_type,
      target_message: row.target_message,
      enabled: row.enabled === 1,
      last_triggered_at: row.last_triggered_at,
      created_by: row.created_by,
      created_at: row.created_at,
      updated_at: row.updated_at,
    }
  }

  return { event, subscription }
}
