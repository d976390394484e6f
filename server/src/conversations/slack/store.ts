import type { Executor } from '../../ports/database/port.ts'
import type {
  SlackChannelsTable,
  SlackConnectionsTable,
  SlackEventsTable,
  SlackPostsTable,
  SlackTables,
  SlackThreadsTable,
} from './tables.ts'

export type ConnectionRow = Omit<SlackConnectionsTable, 'id'>
export type ChannelRow = SlackChannelsTable
export type ThreadRow = SlackThreadsTable
export type PostRow = SlackPostsTable

const onlyId = 'slack'

/** The SQL of Slack. */
export function slackStore(executor: Executor) {
  const db = executor.withTables<SlackTables>()

  return {
    async connection(): Promise<ConnectionRow | null> {
      const row = await db
        .selectFrom('slack_connections')
        .selectAll()
        .where('id', '=', onlyId)
        .executeTakeFirst()
      return row ?? null
    },
    async putConnection(row: ConnectionRow): Promise<void> {
      await db
        .insertInto('slack_connections')
        .values({ id: onlyId, ...row })
        .onConflict((c) => c.column('id').doUpdateSet(row))
        .execute()
    },
    async removeConnection(): Promise<void> {
      await db.deleteFrom('slack_connections').execute()
    },

    async channelOf(agentId: string): Promise<ChannelRow | null> {
      const row = await db
        .selectFrom('slack_channels')
        .selectAll()
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return row ?? null
    },
    async byChannel(channelId: string): Promise<ChannelRow | null> {
      const row = await db
        .selectFrom('slack_channels')
        .selectAll()
        .where('channel_id', '=', channelId)
        .executeTakeFirst()
      return row ?? null
    },
    async dmDefault(): Promise<ChannelRow | null> {
      const row = await db
        .selectFrom('slack_channels')
        .selectAll()
        .where('dm_default', '=', 1)
        .executeTakeFirst()
      return row ?? null
    },
    async removeChannel(agentId: string): Promise<void> {
      await db.deleteFrom('slack_channels').where('agent_id', '=', agentId).execute()
    },
    /** Returns false when another agent has the channel or the direct messages. */
    async insertChannel(row: ChannelRow): Promise<boolean> {
      const result = await db
        .insertInto('slack_channels')
        .values(row)
        .onConflict((c) => c.doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },

    /** Returns the conversation of this thread; inserts the given one when there is none. */
    async ensureThread(row: ThreadRow): Promise<string> {
      await db
        .insertInto('slack_threads')
        .values(row)
        .onConflict((c) => c.columns(['agent_id', 'channel_id', 'thread_ts']).doNothing())
        .execute()
      const { session_id } = await db
        .selectFrom('slack_threads')
        .select('session_id')
        .where('agent_id', '=', row.agent_id)
        .where('channel_id', '=', row.channel_id)
        .where('thread_ts', '=', row.thread_ts)
        .executeTakeFirstOrThrow()
      return session_id
    },
    async threadOf(sessionId: string): Promise<ThreadRow | null> {
      const row = await db
        .selectFrom('slack_threads')
        .selectAll()
        .where('session_id', '=', sessionId)
        .executeTakeFirst()
      return row ?? null
    },

    async isHandled(
      event: Pick<SlackEventsTable, 'event_id' | 'channel_id' | 'message_ts'>,
    ): Promise<boolean> {
      const row = await db
        .selectFrom('slack_events')
        .select('event_id')
        .where((e) =>
          e.or([
            e('event_id', '=', event.event_id),
            e.and([e('channel_id', '=', event.channel_id), e('message_ts', '=', event.message_ts)]),
          ]),
        )
        .executeTakeFirst()
      return row !== undefined
    },
    /** Returns false when this event, or another event of the same message, is already stored. */
    async markHandled(row: SlackEventsTable): Promise<boolean> {
      const result = await db
        .insertInto('slack_events')
        .values(row)
        .onConflict((c) => c.doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },

    async addPosts(rows: PostRow[]): Promise<void> {
      await db
        .insertInto('slack_posts')
        .values(rows)
        .onConflict((c) => c.columns(['execution_id', 'part']).doNothing())
        .execute()
    },
    /**
     * Posts without a confirmed delivery, those of a thread in their order. The next post of each thread precedes the
     * second one of any, so that a thread with many posts does not delay the others.
     */
    async unsent(limit: number): Promise<PostRow[]> {
      const places = db
        .selectFrom('slack_posts')
        .selectAll()
        .where('state', 'in', ['waiting', 'sending'])
        .select((e) =>
          e.fn
            .agg<number>('row_number')
            .over((over) =>
              over
                .partitionBy(['channel_id', 'thread_ts'])
                .orderBy('created_at')
                .orderBy('part')
                .orderBy('id'),
            )
            .as('place'),
        )
      const rows = await db
        .selectFrom(places.as('posts'))
        .selectAll()
        // Posts that wait for another attempt are due later.
        .orderBy('place')
        .orderBy('due_at')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ place: _, ...row }) => row)
    },
    /** Updates a post if it is unchanged since it was read; false when another process changed it. */
    async move(
      { id, state, due_at }: PostRow,
      to: Partial<Pick<PostRow, 'state' | 'due_at' | 'attempts'>>,
    ): Promise<boolean> {
      const result = await db
        .updateTable('slack_posts')
        .set(to)
        .where('id', '=', id)
        .where('state', '=', state)
        .where('due_at', '=', due_at)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
    async dropUnsent(): Promise<void> {
      await db.deleteFrom('slack_posts').where('state', 'in', ['waiting', 'sending']).execute()
    },

    async removeOld(before: string): Promise<void> {
      await db.deleteFrom('slack_events').where('received_at', '<', before).execute()
      await db
        .deleteFrom('slack_posts')
        .where('state', 'in', ['sent', 'failed'])
        .where('created_at', '<', before)
        .execute()
    },
  }
}
