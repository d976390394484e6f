import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import { pictureStore } from './picture-store.ts'
import type { ChatMessagesTable, ChatSessionsTable, ChatTables } from './tables.ts'

export type SessionRow = ChatSessionsTable
export type MessageRow = ChatMessagesTable
/** A message to insert; its position follows from the session. */
export type NewMessage = Omit<MessageRow, 'position' | 'turn' | 'copied_execution_id'>
/** A position in the listed order. */
export type MessagePosition = Pick<MessageRow, 'turn' | 'position'>

export type SessionFilter = {
  agentId: string
  /** Null means everybody. */
  holderId: string | null
  status?: 'active' | 'closed'
  archived: 'exclude' | 'only' | 'include'
  /** A text in the name or a message; the case of ASCII letters does not matter. */
  search?: string
}

export type SessionPatch = Partial<
  Pick<
    SessionRow,
    | 'title'
    | 'pinned_at'
    | 'archived_at'
    | 'current_key'
    | 'message_count'
    | 'last_message_at'
    | 'remembers_from'
  >
>

/** Initial values of a conversation. */
export const blankSession = {
  status: 'active',
  last_message_at: null,
  closed_at: null,
  message_count: 0,
  total_cost_micros: 0,
  cost_estimated: 0,
  context_used: 0,
  context_max: 0,
  runtime_session_id: null,
  remembers_from: 0,
  pinned_at: null,
  archived_at: null,
} as const satisfies Partial<SessionRow>

function containing(text: string) {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`(lower(coalesce(title, '')) like ${pattern} escape '\\' or exists (
    select 1 from chat_messages
    where chat_messages.session_id = chat_sessions.id and lower(content) like ${pattern} escape '\\'
  ))`
}

/** The SQL of conversations. */
export function chatStore(executor: Executor) {
  const db = executor.withTables<ChatTables>()

  const matching = (filter: SessionFilter) =>
    db
      .selectFrom('chat_sessions')
      .where('agent_id', '=', filter.agentId)
      .where('kind', '=', 'chat')
      .$if(filter.holderId !== null, (q) => q.where('holder_id', '=', filter.holderId ?? ''))
      .$if(filter.status !== undefined, (q) => q.where('status', '=', filter.status ?? 'active'))
      .$if(filter.archived === 'exclude', (q) => q.where('archived_at', 'is', null))
      .$if(filter.archived === 'only', (q) => q.where('archived_at', 'is not', null))
      .$if(!!filter.search, (q) => q.where(containing(filter.search ?? '')))

  return {
    /** Returns false when another session became current concurrently. */
    async insertSession(row: SessionRow): Promise<boolean> {
      const result = await db
        .insertInto('chat_sessions')
        .values(row)
        .onConflict((c) => c.column('current_key').doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },

    async session(id: string): Promise<SessionRow | null> {
      const row = await db.selectFrom('chat_sessions').selectAll().where('id', '=', id).executeTakeFirst()
      return row ?? null
    },

    async current(currentKey: string): Promise<SessionRow | null> {
      const row = await db
        .selectFrom('chat_sessions')
        .selectAll()
        .where('current_key', '=', currentKey)
        .executeTakeFirst()
      return row ?? null
    },

    async dropCurrent(currentKey: string): Promise<void> {
      await db
        .updateTable('chat_sessions')
        .set({ current_key: null })
        .where('current_key', '=', currentKey)
        .execute()
    },

    async sessions(filter: SessionFilter, page: { limit: number; offset: number }): Promise<SessionRow[]> {
      return matching(filter)
        .selectAll()
        .orderBy(sql`case when pinned_at is null then 1 else 0 end`)
        .orderBy('started_at', 'desc')
        .orderBy('id')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
    },

    async countSessions(filter: SessionFilter): Promise<number> {
      const row = await matching(filter)
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** Returns false when it was already closed. */
    async close(id: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('chat_sessions')
        .set({ status: 'closed', closed_at: at, current_key: null })
        .where('id', '=', id)
        .where('status', '=', 'active')
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Locks the session until the transaction ends. Returns false when it is deleted. */
    async hold(id: string): Promise<boolean> {
      const result = await db
        .updateTable('chat_sessions')
        .set((e) => ({ message_count: e.ref('message_count') }))
        .where('id', '=', id)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async rename(id: string, title: string): Promise<void> {
      await db.updateTable('chat_sessions').set({ title }).where('id', '=', id).execute()
    },

    /** Returns null when the session is deleted. */
    async update(id: string, patch: SessionPatch): Promise<SessionRow | null> {
      const row = await db
        .updateTable('chat_sessions')
        .set(patch)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    /** The account that is notified of replies. A person may have none when the conversation begins. */
    async setUser(id: string, userId: string): Promise<void> {
      await db.updateTable('chat_sessions').set({ user_id: userId }).where('id', '=', id).execute()
    },

    async rate(messageId: string, rating: MessageRow['rating']): Promise<void> {
      await db.updateTable('chat_messages').set({ rating }).where('id', '=', messageId).execute()
    },

    async forgetRuntime(id: string): Promise<void> {
      await db
        .updateTable('chat_sessions')
        .set((e) => ({ runtime_session_id: null, remembers_from: e.ref('message_count') }))
        .where('id', '=', id)
        .execute()
    },

    /** The runtime has lost the conversation, so the next turn starts from the stored messages. */
    async dropRuntimeSession(id: string): Promise<void> {
      await db.updateTable('chat_sessions').set({ runtime_session_id: null }).where('id', '=', id).execute()
    },

    /** Foreign keys delete its shares. Pictures stay while a branch shows them; the session must be locked. */
    async remove(id: string): Promise<void> {
      const pictures = await pictureStore(executor).idsOf(id)
      await db.deleteFrom('chat_task_results').where('session_id', '=', id).execute()
      await db.deleteFrom('chat_messages').where('session_id', '=', id).execute()
      await db.deleteFrom('chat_sessions').where('id', '=', id).execute()
      await pictureStore(executor).removeUnused(pictures)
    },

    async removeOfAgent(agentId: string): Promise<void> {
      const ofAgent = db.selectFrom('chat_sessions').select('id').where('agent_id', '=', agentId)
      await db.deleteFrom('chat_task_results').where('session_id', 'in', ofAgent).execute()
      await db.deleteFrom('chat_messages').where('session_id', 'in', ofAgent).execute()
      await db.deleteFrom('chat_sessions').where('agent_id', '=', agentId).execute()
      await pictureStore(executor).removeOfAgent(agentId)
    },

    /** Deletes the conversations of all holders with this prefix. */
    async removeOfHolders(agentId: string, prefix: string): Promise<void> {
      const pattern = `${prefix.replaceAll(/[\\%_]/g, '\\$&')}%`
      const ofHolders = db
        .selectFrom('chat_sessions')
        .select('id')
        .where('agent_id', '=', agentId)
        .where(sql<boolean>`holder_id like ${pattern} escape '\\'`)
      await db.deleteFrom('chat_task_results').where('session_id', 'in', ofHolders).execute()
      await db.deleteFrom('chat_messages').where('session_id', 'in', ofHolders).execute()
      await db.deleteFrom('chat_sessions').where('id', 'in', ofHolders).execute()
    },

    /** Appends a message. Updating the session's row serializes concurrent writers. */
    async addMessage(
      message: NewMessage,
      patch: Pick<SessionPatch, 'title' | 'archived_at'> = {},
    ): Promise<void> {
      const { message_count } = await db
        .updateTable('chat_sessions')
        .set((e) => ({
          message_count: e('message_count', '+', 1),
          last_message_at: message.timestamp,
          ...patch,
        }))
        .where('id', '=', message.session_id)
        .returning('message_count')
        .executeTakeFirstOrThrow()
      await db
        .insertInto('chat_messages')
        .values({
          ...message,
          copied_execution_id: null,
          position: message_count,
          turn: turnOf(message, message_count),
        })
        .execute()
    },

    /** Adds a turn's cost, context and runtime session to its session. */
    async noteTurn(
      id: string,
      turn: {
        costMicros: number
        isCostEstimated: boolean
        contextUsed: number | null
        contextMax: number | null
        runtimeSessionId: string | null
      },
    ): Promise<void> {
      await db
        .updateTable('chat_sessions')
        .set((e) => ({
          total_cost_micros: e('total_cost_micros', '+', turn.costMicros),
          ...(turn.isCostEstimated ? { cost_estimated: 1 } : {}),
          ...(turn.contextUsed === null ? {} : { context_used: turn.contextUsed }),
          ...(turn.contextMax === null ? {} : { context_max: turn.contextMax }),
          ...(turn.runtimeSessionId === null ? {} : { runtime_session_id: turn.runtimeSessionId }),
        }))
        .where('id', '=', id)
        .execute()
    },

    /** Returns false when the run has no question of its own. */
    async markFailed(executionId: string, errorCode: string): Promise<boolean> {
      const result = await db
        .updateTable('chat_messages')
        .set({ error_code: errorCode })
        .where('execution_id', '=', executionId)
        .where('role', '=', 'user')
        .executeTakeFirst()
      return Number(result.numUpdatedRows) > 0
    },

    /** Clears the aside flag of spoken lines that the runtime's session now contains. */
    async clearVoiceAsides(sessionId: string, until: string): Promise<void> {
      await db
        .updateTable('chat_messages')
        .set({ is_aside: 0 })
        .where('session_id', '=', sessionId)
        .where('is_aside', '=', 1)
        .where('source', '=', 'voice')
        .where('timestamp', '<=', until)
        .execute()
    },

    /** The end of this task becomes a message. */
    async awaitResult(executionId: string, sessionId: string): Promise<void> {
      await db
        .insertInto('chat_task_results')
        .values({ execution_id: executionId, session_id: sessionId })
        .execute()
    },

    /** Returns true when the result was awaited, and ends that. */
    async takeAwaited(executionId: string): Promise<boolean> {
      const result = await db
        .deleteFrom('chat_task_results')
        .where('execution_id', '=', executionId)
        .executeTakeFirst()
      return Number(result.numDeletedRows) === 1
    },

    async messageOf(executionId: string, role: MessageRow['role']): Promise<MessageRow | null> {
      const row = await db
        .selectFrom('chat_messages')
        .selectAll()
        .where('execution_id', '=', executionId)
        .where('role', '=', role)
        .executeTakeFirst()
      return row ?? null
    },

    async message(id: string): Promise<MessageRow | null> {
      const row = await db.selectFrom('chat_messages').selectAll().where('id', '=', id).executeTakeFirst()
      return row ?? null
    },

    /**
     * Returns the newest `limit` messages within the bounds, in order: turns by their first message, each with the
     * question before its answer. `after` is a position.
     */
    async messages(
      sessionId: string,
      limit: number,
      { after = 0, before }: { after?: number; before?: MessagePosition } = {},
    ): Promise<MessageRow[]> {
      const rows = await db
        .selectFrom('chat_messages')
        .selectAll()
        .where('session_id', '=', sessionId)
        .where('position', '>', after)
        .$if(before !== undefined, (q) =>
          q.where((e) =>
            e(e.refTuple('turn', 'position'), '<', e.tuple(before?.turn ?? 0, before?.position ?? 0)),
          ),
        )
        .orderBy('turn', 'desc')
        .orderBy('position', 'desc')
        .limit(limit)
        .execute()
      return rows.toReversed()
    },

    /** Returns the first turn that began at this time or later, or null. */
    async turnFrom(sessionId: string, time: string): Promise<MessagePosition | null> {
      const row = await db
        .selectFrom('chat_messages')
        .select(['turn', 'position'])
        .where('session_id', '=', sessionId)
        .whereRef('position', '=', 'turn')
        .where('timestamp', '>=', time)
        .orderBy('turn')
        .limit(1)
        .executeTakeFirst()
      return row ?? null
    },

    /** The spoken lines of one call, in order. */
    async messagesOfCall(sessionId: string, callId: string): Promise<MessageRow[]> {
      return db
        .selectFrom('chat_messages')
        .selectAll()
        .where('session_id', '=', sessionId)
        .where('voice_call_id', '=', callId)
        .orderBy('position')
        .execute()
    },

    /** The holder's newest messages with an agent across sessions, in order of their turn's start, oldest first. */
    async messagesOfHolder(agentId: string, holderId: string, limit: number): Promise<MessageRow[]> {
      const rows = await db
        .selectFrom('chat_messages')
        .innerJoin('chat_sessions', 'chat_sessions.id', 'chat_messages.session_id')
        .innerJoin('chat_messages as first', (join) =>
          join
            .onRef('first.session_id', '=', 'chat_messages.session_id')
            .onRef('first.position', '=', 'chat_messages.turn'),
        )
        .selectAll('chat_messages')
        .where('chat_sessions.agent_id', '=', agentId)
        .where('chat_sessions.holder_id', '=', holderId)
        .where('chat_sessions.kind', '=', 'chat')
        .orderBy('first.timestamp', 'desc')
        .orderBy('chat_messages.session_id', 'desc')
        .orderBy('chat_messages.turn', 'desc')
        .orderBy('chat_messages.position', 'desc')
        .limit(limit)
        .execute()
      return rows.toReversed()
    },

    async countMessagesOfHolder(agentId: string, holderId: string): Promise<number> {
      const row = await db
        .selectFrom('chat_sessions')
        .select((e) => e.fn.sum<number | null>('message_count').as('total'))
        .where('agent_id', '=', agentId)
        .where('holder_id', '=', holderId)
        .where('kind', '=', 'chat')
        .executeTakeFirst()
      return Number(row?.total ?? 0)
    },
  }
}

/** The question's position if it is in the same session, else the message's own. */
function turnOf({ role, execution_id, session_id }: NewMessage, position: number) {
  if (role === 'user' || execution_id === null) return position
  return sql<number>`coalesce((
    select question.position from chat_messages as question
    where question.execution_id = ${execution_id} and question.role = 'user' and question.session_id = ${session_id}
  ), ${position})`
}

export type ChatStore = ReturnType<typeof chatStore>
