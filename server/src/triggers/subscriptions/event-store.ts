import type { Executor } from '../../ports/database/port.ts'
import type { AgentEventDeliveriesTable, AgentEventsTable, SubscriptionTables } from './tables.ts'

export type EventRow = AgentEventsTable
export type DeliveryRow = AgentEventDeliveriesTable

export type EventFilter = {
  eventType?: string | undefined
  /** Name of a source; `id` is the agent that has the name now. */
  source?: { name: string; id: string | null } | undefined
  /** Null for all events. */
  readable: { agentIds: readonly string[]; userId: string | null } | null
}

export function eventStore(executor: Executor) {
  const db = executor.withTables<SubscriptionTables>()

  const done = (before: string) =>
    db
      .selectFrom('agent_events')
      .where('created_at', '<', before)
      .where('subscriptions_triggered', 'is not', null)
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('agent_event_deliveries as delivery')
              .select('delivery.event_id')
              .whereRef('delivery.event_id', '=', 'agent_events.id')
              .where('delivery.state', '=', 'pending'),
          ),
        ),
      )

  return {
    async insert(row: EventRow): Promise<void> {
      await db.insertInto('agent_events').values(row).execute()
    },

    async addDeliveries(deliveries: readonly DeliveryRow[]): Promise<void> {
      for (const delivery of deliveries)
        await db.insertInto('agent_event_deliveries').values(delivery).execute()
    },

    async find(id: string): Promise<EventRow | null> {
      return (await db.selectFrom('agent_events').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
    },

    /** Newest first. */
    async list({ eventType, source, readable }: EventFilter, limit: number): Promise<EventRow[]> {
      let query = db.selectFrom('agent_events').selectAll()
      if (eventType !== undefined) query = query.where('event_type', '=', eventType)
      if (source !== undefined) {
        const { id, name } = source
        query = query.where((e) =>
          e.or([
            e('source_agent_id', '=', id ?? ''),
            e.and([e('source_agent_id', 'is', null), e('source_agent', '=', name)]),
          ]),
        )
      }
      if (readable !== null) {
        const { agentIds, userId } = readable
        query = query.where((e) =>
          e.or([
            ...(agentIds.length > 0 ? [e('source_agent_id', 'in', [...agentIds])] : []),
            e('source_user_id', '=', userId ?? ''),
          ]),
        )
      }
      return query.orderBy('created_at', 'desc').orderBy('id').limit(limit).execute()
    },

    /** The deliveries of these events, ordered by agent name. */
    async deliveriesOf(eventIds: readonly string[]): Promise<DeliveryRow[]> {
      if (eventIds.length === 0) return []
      return db
        .selectFrom('agent_event_deliveries')
        .selectAll()
        .where('event_id', 'in', [...eventIds])
        .orderBy('agent_name')
        .orderBy('subscription_id')
        .execute()
    },

    /** Marks an event as matched, once; false if it already was. */
    async matched(id: string, count: number): Promise<boolean> {
      const result = await db
        .updateTable('agent_events')
        .set({ subscriptions_triggered: count })
        .where('id', '=', id)
        .where('subscriptions_triggered', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async remove(id: string): Promise<void> {
      await db.deleteFrom('agent_events').where('id', '=', id).execute()
    },

    async countAll(): Promise<number> {
      const row = await db
        .selectFrom('agent_events')
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Counts events emitted before a time with all deliveries made or dropped. */
    async countDone(before: string): Promise<number> {
      const row = await done(before)
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Removes at most `limit` of those with their deliveries. */
    async removeDone(before: string, limit: number): Promise<number> {
      const found = await done(before).select('id').orderBy('created_at').limit(limit).execute()
      const ids = found.map(({ id }) => id)
      if (ids.length === 0) return 0
      await db.deleteFrom('agent_event_deliveries').where('event_id', 'in', ids).execute()
      await db.deleteFrom('agent_events').where('id', 'in', ids).execute()
      return ids.length
    },

    /** Claims a delivery and locks it until the transaction ends; false if it was made or dropped. */
    async claim({ event_id, subscription_id }: DeliveryRow): Promise<boolean> {
      const result = await db
        .updateTable('agent_event_deliveries')
        .set({ state: 'done' })
        .where('event_id', '=', event_id)
        .where('subscription_id', '=', subscription_id)
        .where('state', '=', 'pending')
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async outcome(
      { event_id, subscription_id }: DeliveryRow,
      outcome: Partial<Pick<DeliveryRow, 'execution_id' | 'dropped'>>,
    ): Promise<void> {
      await db
        .updateTable('agent_event_deliveries')
        .set(outcome)
        .where('event_id', '=', event_id)
        .where('subscription_id', '=', subscription_id)
        .execute()
    },

    /** Events that are not matched or not fully delivered. */
    async open(limit: number): Promise<string[]> {
      const unmatched = await db
        .selectFrom('agent_events')
        .select('id')
        .where('subscriptions_triggered', 'is', null)
        .limit(limit)
        .execute()
      const pending = await db
        .selectFrom('agent_event_deliveries')
        .select('event_id as id')
        .distinct()
        .where('state', '=', 'pending')
        .limit(limit)
        .execute()
      return [...new Set([...unmatched, ...pending].map(({ id }) => id))]
    },
  }
}
