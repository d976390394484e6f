import type { CreateEventSubscription, UpdateEventSubscription } from '@roost/contracts/triggers/events'
import type { AgentAccess } from '../../agents/access/index.ts'
import { type Agent, type AgentRecords, agentStore } from '../../agents/records/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Matching } from './matching.ts'
import { subscribedType } from './rules.ts'
import { type SubscriptionRow, subscriptionStore } from './store.ts'

export type SaveDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'byId' | 'byName'>
  agentAccess: Pick<AgentAccess, 'relationTo'>
  matching: Pick<Matching, 'mayListen'>
}

/** Of an agent that comes from an archive. `ofItself`: its own events; else those of all agents it may call. */
export type RestoredSubscription = { ofItself: boolean; event_type: string; target_message: string }

const maxCopied = 1000

/**
 * Creates and changes subscriptions. Both throw `invalid_event_type`, `reserved_event_type`,
 * `agent_not_permitted` and `already_exists`.
 */
export function createSave({ db, clock, agentRecords, agentAccess, matching }: SaveDeps) {
  /** A missing, inaccessible or forbidden source gets the same refusal. */
  async function refuseForeign(caller: SignedIn, subscriberId: string, source: Agent | null): Promise<Agent> {
    const refusal = new Fault('agent_not_permitted', 'The agent may not listen to this source.')
    if (!source) throw refusal
    const isAgent = caller.kind === 'key' && caller.key.scope === 'agent'
    if (!isAgent && !(await agentAccess.relationTo(caller, source))) throw refusal
    if (!(await matching.mayListen(subscriberId, source.id))) throw refusal
    return source
  }

  /** Serializes the saves of a subscriber, so that none undoes another and equal ones are stored once. */
  async function lockSubscriber(tx: Tx, id: string): Promise<void> {
    if (!(await agentStore(tx).lock(id))) throw new Fault('agent_not_found')
  }

  async function refuseTwin(tx: Tx, row: SubscriptionRow): Promise<void> {
    if (await subscriptionStore(tx).hasTwin(row, row.id)) {
      throw new Fault('already_exists', 'The agent has a subscription to this source and type already.')
    }
  }

  return {
    async create(
      caller: SignedIn,
      subscriber: { id: string; name: string },
      request: CreateEventSubscription,
    ): Promise<SubscriptionRow> {
      const ofItself = request.source_agent === subscriber.name
      const event_type = subscribedType(request.event_type, { ofItself })
      const source =
        request.source_agent === null
          ? null
          : await refuseForeign(caller, subscriber.id, await agentRecords.byName(request.source_agent))
      const at = timestamp(clock.now())
      const row: SubscriptionRow = {
        id: newId(),
        subscriber_agent_id: subscriber.id,
        source_agent_id: source?.id ?? null,
        source_key: source?.id ?? '',
        event_type,
        target_message: request.target_message,
        enabled: request.enabled ? 1 : 0,
        last_triggered_at: null,
        created_by:
          caller.kind === 'key' && caller.key.scope === 'agent' ? subscriber.name : caller.user.username,
        created_at: at,
        updated_at: at,
      }
      await db.atomically(async (tx) => {
        await lockSubscriber(tx, subscriber.id)
        await refuseTwin(tx, row)
        await subscriptionStore(tx).insert(row)
      })
      return row
    },

    /** Adds disabled subscriptions to a new agent, in the transaction that makes it visible. */
    async restore(
      tx: Tx,
      agent: Pick<Agent, 'id'>,
      by: { username: string },
      all: readonly RestoredSubscription[],
      now: Date,
    ): Promise<void> {
      const store = subscriptionStore(tx)
      for (const { ofItself, event_type, target_message } of all) {
        const row: SubscriptionRow = {
          id: newId(),
          subscriber_agent_id: agent.id,
          source_agent_id: ofItself ? agent.id : null,
          source_key: ofItself ? agent.id : '',
          event_type: subscribedType(event_type, { ofItself }),
          target_message,
          enabled: 0,
          last_triggered_at: null,
          created_by: by.username,
          created_at: timestamp(now),
          updated_at: timestamp(now),
        }
        if (!(await store.hasTwin(row, row.id))) await store.insert(row)
      }
    },

    async copy(
      tx: Tx,
      agents: { from: string; to: string },
      by: { username: string },
      now: Date,
    ): Promise<void> {
      const store = subscriptionStore(tx)
      const at = timestamp(now)
      for (const row of await store.ofAgent(agents.from, 'subscriber', maxCopied)) {
        const source = row.source_agent_id === agents.from ? agents.to : row.source_agent_id
        await store.insert({
          ...row,
          id: newId(),
          subscriber_agent_id: agents.to,
          source_agent_id: source,
          source_key: source ?? '',
          enabled: 0,
          last_triggered_at: null,
          created_by: by.username,
          created_at: at,
          updated_at: at,
        })
      }
    },

    async update(
      caller: SignedIn,
      { id, subscriber_agent_id, source_agent_id, event_type: typeBefore }: SubscriptionRow,
      request: UpdateEventSubscription,
    ): Promise<SubscriptionRow | null> {
      const ofItself = source_agent_id === subscriber_agent_id
      subscribedType(request.event_type ?? typeBefore, { ofItself })
      // Disabling needs no permission for the source.
      if (source_agent_id !== null && request.enabled !== false) {
        await refuseForeign(caller, subscriber_agent_id, await agentRecords.byId(source_agent_id))
      }
      return db.atomically(async (tx) => {
        await lockSubscriber(tx, subscriber_agent_id)
        // Read again, because another change may have disabled it.
        const before = await subscriptionStore(tx).find(id)
        if (!before) return null
        const event_type = subscribedType(request.event_type ?? before.event_type, { ofItself })
        await refuseTwin(tx, { ...before, event_type })
        return subscriptionStore(tx).update(id, {
          event_type,
          target_message: request.target_message ?? before.target_message,
          enabled: (request.enabled ?? before.enabled === 1) ? 1 : 0,
          updated_at: timestamp(clock.now()),
        })
      })
    },
  }
}
