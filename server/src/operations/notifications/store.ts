import type {
  NotificationPriority,
  NotificationStatus,
  NotificationType,
} from '@roost/contracts/operations/notifications'
import type { Executor } from '../../ports/database/port.ts'

export type NotificationRow = {
  id: string
  agent_id: string
  notification_type: NotificationType
  title: string
  message: string | null
  priority: NotificationPriority
  category: string | null
  /** JSON object. */
  metadata: string | null
  status: NotificationStatus
  created_at: string
  acknowledged_at: string | null
  /** A user name. */
  acknowledged_by: string | null
}

type NotificationTables = { notifications: NotificationRow }
export type NotificationFilter = {
  status?: NotificationStatus | undefined
  priority?: NotificationPriority | undefined
}

/** The only SQL about notifications. `agentIds` are the agents that the viewer can access. */
export function notificationStore(executor: Executor) {
  const db = executor.withTables<NotificationTables>()

  const matching = (agentIds: readonly string[], { status, priority }: NotificationFilter) => {
    let query = db.selectFrom('notifications').where('agent_id', 'in', [...agentIds])
    if (status) query = query.where('status', '=', status)
    if (priority) query = query.where('priority', '=', priority)
    return query
  }
  const beyond = (agentId: string, count: number) =>
    db
      .selectFrom('notifications')
      .select('id')
      .where('agent_id', '=', agentId)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .offset(count)

  return {
    async insert(row: NotificationRow): Promise<void> {
      await db.insertInto('notifications').values(row).execute()
    },

    async byId(id: string): Promise<NotificationRow | null> {
      const row = await db.selectFrom('notifications').selectAll().where('id', '=', id).executeTakeFirst()
      return row ?? null
    },

    async list(
      agentIds: readonly string[],
      filter: NotificationFilter,
      page: { limit: number; offset: number },
    ): Promise<NotificationRow[]> {
      if (agentIds.length === 0) return []
      return matching(agentIds, filter)
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
    },

    async count(agentIds: readonly string[], filter: NotificationFilter): Promise<number> {
      if (agentIds.length === 0) return 0
      const row = await matching(agentIds, filter)
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** True for the one caller that changed the status from one of `from`. */
    async move(
      id: string,
      from: readonly NotificationStatus[],
      patch: Partial<Pick<NotificationRow, 'status' | 'acknowledged_at' | 'acknowledged_by'>>,
    ): Promise<boolean> {
      const result = await db
        .updateTable('notifications')
        .set(patch)
        .where('id', '=', id)
        .where('status', 'in', [...from])
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Returns the number of dismissed notifications per agent. */
    async dismissAll(agentIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const counts = new Map<string, number>()
      if (agentIds.length === 0) return counts
      const dismissed = await db
        .updateTable('notifications')
        .set({ status: 'dismissed' })
        .where('agent_id', 'in', [...agentIds])
        .where('status', '<>', 'dismissed')
        .returning('agent_id')
        .execute()
      for (const { agent_id } of dismissed) counts.set(agent_id, (counts.get(agent_id) ?? 0) + 1)
      return counts
    },

    /** Agents that have more than `count`. */
    async agentsAbove(count: number): Promise<string[]> {
      const rows = await db
        .selectFrom('notifications')
        .select('agent_id')
        .groupBy('agent_id')
        .having((e) => e.fn.countAll<number>(), '>', count)
        .execute()
      return rows.map(({ agent_id }) => agent_id)
    },

    /** Removes at most `limit` notifications beyond the newest `count`. */
    async removeBeyond(agentId: string, count: number, limit: number): Promise<number> {
      const result = await db
        .deleteFrom('notifications')
        .where('id', 'in', beyond(agentId, count).limit(limit))
        .executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}
