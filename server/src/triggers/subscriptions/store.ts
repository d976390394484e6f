import type { Executor } from '../../ports/database/port.ts'
import type { EventSubscriptionsTable, SubscriptionTables } from './tables.ts'

export type SubscriptionRow = EventSubscriptionsTable
export type Direction = 'subscriber' | 'source' | 'both'

export function subscriptionStore(executor: Executor) {
  const db = executor.withTables<SubscriptionTables>()

  /** Enabled subscriptions to a type with this source or without a source. */
  const to = (eventType: string, sourceId: string) =>
    db
      .selectFrom('event_subscriptions')
      .where('event_type', '=', eventType)
      .where('source_key', 'in', [sourceId, ''])
      .where('enabled', '=', 1)

  return {
    async insert(row: SubscriptionRow): Promise<void> {
      await db.insertInto('event_subscriptions').values(row).execute()
    },

    async find(id: string): Promise<SubscriptionRow | null> {
      const row = await db
        .selectFrom('event_subscriptions')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
      return row ?? null
    },

    /** Whether another row than `exceptId` has the same subscriber, source and type. */
    async hasTwin(
      row: Pick<SubscriptionRow, 'subscriber_agent_id' | 'source_key' | 'event_type'>,
      exceptId: string,
    ): Promise<boolean> {
      const twin = await db
        .selectFrom('event_subscriptions')
        .select('id')
        .where('subscriber_agent_id', '=', row.subscriber_agent_id)
        .where('source_key', '=', row.source_key)
        .where('event_type', '=', row.event_type)
        .where('id', '<>', exceptId)
        .executeTakeFirst()
      return twin !== undefined
    },

    async update(
      id: string,
      patch: Pick<SubscriptionRow, 'event_type' | 'target_message' | 'enabled' | 'updated_at'>,
    ): Promise<SubscriptionRow | null> {
      const row = await db
        .updateTable('event_subscriptions')
        .set(patch)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    async remove(id: string): Promise<void> {
      await db.deleteFrom('event_subscriptions').where('id', '=', id).execute()
    },

    async removeOfAgent(agentId: string): Promise<void> {
      await db
        .deleteFrom('event_subscriptions')
        .where((e) => e.or([e('subscriber_agent_id', '=', agentId), e('source_agent_id', '=', agentId)]))
        .execute()
    },

    /** Newest first. */
    async ofAgent(agentId: string, direction: Direction, limit: number): Promise<SubscriptionRow[]> {
      return db
        .selectFrom('event_subscriptions')
        .selectAll()
        .where((e) =>
          e.or([
            ...(direction === 'source' ? [] : [e('subscriber_agent_id', '=', agentId)]),
            ...(direction === 'subscriber' ? [] : [e('source_agent_id', '=', agentId)]),
          ]),
        )
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(limit)
        .execute()
    },

    /** Enabled subscriptions to a type, with any source. */
    async toType(eventType: string): Promise<SubscriptionRow[]> {
      return db
        .selectFrom('event_subscriptions')
        .selectAll()
        .where('event_type', '=', eventType)
        .where('enabled', '=', 1)
        .orderBy('id')
        .execute()
    },

    toSource: (eventType: string, sourceId: string): Promise<SubscriptionRow[]> =>
      to(eventType, sourceId).selectAll().orderBy('id').execute(),

    /** Whether another agent than the source listens; checked at the end of every task. */
    async hasListener(eventType: string, sourceId: string): Promise<boolean> {
      const row = await to(eventType, sourceId)
        .select('id')
        .where('subscriber_agent_id', '<>', sourceId)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    async triggered(id: string, at: string): Promise<void> {
      await db
        .updateTable('event_subscriptions')
        .set({ last_triggered_at: at })
        .where('id', '=', id)
        .execute()
    },
  }
}
