import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { ChatTables, SessionRow } from '../chat/index.ts'
import type { ChatStatesTable, DeliveriesTable, DocumentsTable, WorkspaceTables } from './tables.ts'

export type DeliveryRow = DeliveriesTable
export type DocumentRow = DocumentsTable

/**
 * The SQL of the Workspace, except for its sessions. Reads chat's tables, but writes conversations only through chat's
 * store.
 */
export function workspaceStore(executor: Executor) {
  const db = executor.withTables<WorkspaceTables & ChatTables>()
  return {
    // ── conversations ──
    async conversations(holder: string, agentIds: readonly string[]): Promise<SessionRow[]> {
      if (agentIds.length === 0) return []
      return db
        .selectFrom('chat_sessions')
        .selectAll()
        .where('kind', '=', 'workspace')
        .where('holder_id', '=', holder)
        .where('agent_id', 'in', [...agentIds])
        .orderBy((e) => e.fn.coalesce('last_message_at', 'started_at'), 'desc')
        .orderBy('id')
        .limit(500)
        .execute()
    },

    async states(sessionIds: readonly string[]): Promise<Map<string, ChatStatesTable>> {
      if (sessionIds.length === 0) return new Map()
      const rows = await db
        .selectFrom('workspace_chat_states')
        .selectAll()
        .where('session_id', 'in', [...sessionIds])
        .execute()
      return new Map(rows.map((row) => [row.session_id, row]))
    },

    /** Unread messages of the agent; sessions without any are omitted. */
    async unread(sessionIds: readonly string[]): Promise<Map<string, number>> {
      if (sessionIds.length === 0) return new Map()
      const rows = await db
        .selectFrom('chat_messages')
        .leftJoin('workspace_chat_states', 'workspace_chat_states.session_id', 'chat_messages.session_id')
        .select('chat_messages.session_id')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('chat_messages.session_id', 'in', [...sessionIds])
        .where('chat_messages.role', '=', 'assistant')
        .where((e) =>
          e(
            'chat_messages.position',
            '>',
            e.fn.coalesce('workspace_chat_states.read_position', sql<number>`0`),
          ),
        )
        .groupBy('chat_messages.session_id')
        .execute()
      return new Map(rows.map((row) => [row.session_id, Number(row.total)]))
    },

    async star(sessionId: string, starred: boolean): Promise<void> {
      const value = starred ? 1 : 0
      await db
        .insertInto('workspace_chat_states')
        .values({ session_id: sessionId, starred: value, read_position: 0 })
        .onConflict((c) => c.column('session_id').doUpdateSet({ starred: value }))
        .execute()
    },

    /** The read position never moves back. */
    async read(sessionId: string, position: number): Promise<void> {
      await db
        .insertInto('workspace_chat_states')
        .values({ session_id: sessionId, starred: 0, read_position: position })
        .onConflict((c) =>
          c
            .column('session_id')
            .doUpdateSet({ read_position: position })
            .where('workspace_chat_states.read_position', '<', position),
        )
        .execute()
    },

    /** The newest message of each conversation that contains the phrase. */
    async search(holder: string, agentIds: readonly string[], phrase: string, limit: number) {
      if (agentIds.length === 0) return []
      const pattern = `%${phrase.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
      const newest = db
        .selectFrom('chat_messages')
        .innerJoin('chat_sessions', 'chat_sessions.id', 'chat_messages.session_id')
        .select('chat_messages.session_id')
        .select((e) => e.fn.max('chat_messages.position').as('position'))
        .where('chat_sessions.kind', '=', 'workspace')
        .where('chat_sessions.holder_id', '=', holder)
        .where('chat_sessions.agent_id', 'in', [...agentIds])
        .where(sql<boolean>`lower(chat_messages.content) like ${pattern} escape '\\'`)
        .groupBy('chat_messages.session_id')
        .as('newest')
      return db
        .selectFrom(newest)
        .innerJoin('chat_messages', (join) =>
          join
            .onRef('chat_messages.session_id', '=', 'newest.session_id')
            .onRef('chat_messages.position', '=', 'newest.position'),
        )
        .innerJoin('chat_sessions', 'chat_sessions.id', 'chat_messages.session_id')
        .select([
          'chat_sessions.agent_id',
          'chat_sessions.id as session_id',
          'chat_sessions.title',
          'chat_sessions.last_message_at',
          'chat_messages.content',
        ])
        .orderBy('chat_sessions.last_message_at', 'desc')
        .limit(limit)
        .execute()
    },

    async comment(messageId: string, comment: string | null, at: string): Promise<void> {
      await db
        .insertInto('workspace_rating_comments')
        .values({ message_id: messageId, comment, rated_at: at })
        .onConflict((c) => c.column('message_id').doUpdateSet({ comment, rated_at: at }))
        .execute()
    },

    /** Message counts and last activity, by holder. */
    async usageOf(agentId: string): Promise<Map<string, { messages: number; last: string | null }>> {
      const rows = await db
        .selectFrom('chat_sessions')
        .select('holder_id')
        .select((e) => [
          e.fn.sum<number>('message_count').as('messages'),
          e.fn.max('last_message_at').as('last'),
        ])
        .where('agent_id', '=', agentId)
        .where('kind', '=', 'workspace')
        .groupBy('holder_id')
        .execute()
      return new Map(
        rows.map(({ holder_id, messages, last }) => [holder_id, { messages: Number(messages), last }]),
      )
    },

    // ── deliveries ──
    /** Returns false when this key already has a delivery. */
    async addDelivery(row: DeliveryRow): Promise<boolean> {
      const result = await db
        .insertInto('workspace_deliveries')
        .values(row)
        .onConflict((c) => c.column('key').doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },
    async delivery(key: string): Promise<DeliveryRow | null> {
      const row = await db
        .selectFrom('workspace_deliveries')
        .selectAll()
        .where('key', '=', key)
        .executeTakeFirst()
      return row ?? null
    },
    /** Returns true for the caller that ends the pending state. */
    async endDelivery(
      key: string,
      end: Pick<DeliveryRow, 'status' | 'message_id' | 'error' | 'session_id'>,
    ): Promise<boolean> {
      const result = await db
        .updateTable('workspace_deliveries')
        .set({ ...end, due_at: null, content: '' })
        .where('key', '=', key)
        .where('status', '=', 'pending')
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },
    /** Pending deliveries of this conversation, in order. */
    async waitingFor(sessionId: string): Promise<DeliveryRow[]> {
      return db
        .selectFrom('workspace_deliveries')
        .selectAll()
        .where('session_id', '=', sessionId)
        .where('status', '=', 'pending')
        .orderBy('created_at')
        .execute()
    },
    async overdue(now: string): Promise<DeliveryRow[]> {
      return db
        .selectFrom('workspace_deliveries')
        .selectAll()
        .where('status', '=', 'pending')
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(100)
        .execute()
    },
    /** Removes the ended deliveries of these runs. */
    async removeDeliveries(executionIds: readonly string[]): Promise<void> {
      await db
        .deleteFrom('workspace_deliveries')
        .where('execution_id', 'in', [...executionIds])
        .where('status', '!=', 'pending')
        .execute()
    },
    async noteDelivery(executionId: string, delivery: object): Promise<void> {
      await db
        .updateTable('executions')
        .set({ delivery: JSON.stringify(delivery) })
        .where('id', '=', executionId)
        .execute()
    },

    // ── documents ──
    async addDocument(row: DocumentRow): Promise<void> {
      await db.insertInto('workspace_documents').values(row).execute()
    },
    async documents(agentId: string, holder: string): Promise<DocumentRow[]> {
      return db
        .selectFrom('workspace_documents')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('holder_id', '=', holder)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .execute()
    },
    async removeDocumentAt(agentId: string, path: string): Promise<void> {
      await db
        .deleteFrom('workspace_documents')
        .where('agent_id', '=', agentId)
        .where('path', '=', path)
        .execute()
    },
    async removeDocument(id: string): Promise<void> {
      await db.deleteFrom('workspace_documents').where('id', '=', id).execute()
    },

    async removeOfAgent(agentId: string): Promise<void> {
      await db.deleteFrom('workspace_deliveries').where('agent_id', '=', agentId).execute()
      await db.deleteFrom('workspace_documents').where('agent_id', '=', agentId).execute()
    },
  }
}
