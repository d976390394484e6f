import type { Executor } from '../../ports/database/port.ts'
import type { CallBindingsTable, CallLinesTable, CallState, CallsTable, CallTables } from './tables.ts'

export type BindingRow = CallBindingsTable
export type CallRow = CallsTable
export type CallLine = Pick<CallLinesTable, 'role' | 'text'>

const open: CallState[] = ['placing', 'ringing', 'talking']
const unconnected: CallState[] = ['placing', 'ringing']

/** The account of each agent. */
export function bindingStore(executor: Executor) {
  const db = executor.withTables<CallTables>()
  return {
    async find(agentId: string): Promise<BindingRow | null> {
      const row = await db
        .selectFrom('call_bindings')
        .selectAll()
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return row ?? null
    },

    async put({ agent_id, ...rest }: BindingRow): Promise<void> {
      await db
        .insertInto('call_bindings')
        .values({ agent_id, ...rest })
        .onConflict((c) => c.column('agent_id').doUpdateSet(rest))
        .execute()
    },

    /** False: there is none. */
    async setEnabled(agentId: string, enabled: boolean, at: string): Promise<boolean> {
      const result = await db
        .updateTable('call_bindings')
        .set({ enabled: enabled ? 1 : 0, updated_at: at })
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async remove(agentId: string): Promise<boolean> {
      const result = await db.deleteFrom('call_bindings').where('agent_id', '=', agentId).executeTakeFirst()
      return Number(result.numDeletedRows) === 1
    },
  }
}

/** The calls. Each move names the states it comes from and says whether it won. */
export function callStore(executor: Executor) {
  const db = executor.withTables<CallTables>()

  const move = (id: string, from: CallState[], patch: Partial<CallRow>) =>
    db.updateTable('calls').set(patch).where('id', '=', id).where('state', 'in', from)
  const moved = async (query: ReturnType<typeof move>) =>
    Number((await query.executeTakeFirst()).numUpdatedRows) === 1

  return {
    async insert(row: CallRow): Promise<void> {
      await db.insertInto('calls').values(row).execute()
    },

    async find(id: string): Promise<CallRow | null> {
      return (await db.selectFrom('calls').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
    },

    async ofExecution(executionId: string): Promise<CallRow | null> {
      const row = await db
        .selectFrom('calls')
        .selectAll()
        .where('execution_id', '=', executionId)
        .executeTakeFirst()
      return row ?? null
    },

    /** How many calls of the agent count since then. */
    async countSince(agentId: string, since: string): Promise<number> {
      const row = await db
        .selectFrom('calls')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('agent_id', '=', agentId)
        .where('created_at', '>=', since)
        .where('is_counted', '=', 1)
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /** When the call was asked for that stands `count` before the next one; null when there are not as many. */
    async createdBefore(agentId: string, count: number): Promise<string | null> {
      const row = await db
        .selectFrom('calls')
        .select('created_at')
        .where('agent_id', '=', agentId)
        .orderBy('created_at', 'desc')
        .offset(count - 1)
        .limit(1)
        .executeTakeFirst()
      return row?.created_at ?? null
    },

    /** The newest call with this label since then. */
    async withLabel(agentId: string, label: string, since: string): Promise<CallRow | null> {
      const row = await db
        .selectFrom('calls')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('created_at', '>=', since)
        .where('dedup_label', '=', label)
        .orderBy('created_at', 'desc')
        .executeTakeFirst()
      return row ?? null
    },

    async openOf(agentId: string): Promise<CallRow[]> {
      return db
        .selectFrom('calls')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('state', 'in', open)
        .execute()
    },

    async overdue(now: string, limit: number): Promise<CallRow[]> {
      return db
        .selectFrom('calls')
        .selectAll()
        .where('deadline_at', '<', now)
        .where('state', 'in', open)
        .orderBy('deadline_at')
        .limit(limit)
        .execute()
    },

    /** The provider has taken it. False: it has ended meanwhile, or its sound is here already. */
    async placed(id: string, providerCallId: string, deadline: string): Promise<boolean> {
      await db.updateTable('calls').set({ provider_call_id: providerCallId }).where('id', '=', id).execute()
      return moved(move(id, ['placing'], { state: 'ringing', deadline_at: deadline }))
    },

    async answered(id: string, at: string, deadline: string): Promise<boolean> {
      const query = move(id, unconnected, { answered_at: at, deadline_at: deadline })
      return moved(query.where('answered_at', 'is', null))
    },

    /** Its sound is streamed here, once: the ticket is used up. Null: it may not be. */
    async connect(
      id: string,
      ticketHash: string,
      { at, ...patch }: { at: string; deadline_at: string; provider_call_id: string },
    ): Promise<CallRow | null> {
      const row = await move(id, unconnected, { ...patch, state: 'talking', ticket_hash: null })
        .where('ticket_hash', '=', ticketHash)
        .returningAll()
        .executeTakeFirst()
      if (!row) return null
      if (row.answered_at === null) {
        await db.updateTable('calls').set({ answered_at: at }).where('id', '=', id).execute()
      }
      return { ...row, answered_at: row.answered_at ?? at }
    },

    /** Who carries it goes on. False: it has ended. */
    async renew(id: string, deadline: string): Promise<boolean> {
      return moved(move(id, ['talking'], { deadline_at: deadline }))
    },

    /** The provider has told that it is over: nothing more comes from there. */
    async over(id: string): Promise<void> {
      await db.updateTable('calls').set({ is_over: 1 }).where('id', '=', id).execute()
    },

    async uncount(id: string): Promise<void> {
      await db.updateTable('calls').set({ is_counted: 0 }).where('id', '=', id).execute()
    },

    /** False: it had ended. */
    async close(id: string, patch: Partial<CallRow> & { ended_at: string }): Promise<boolean> {
      return moved(move(id, open, { ...patch, state: 'ended', deadline_at: null, ticket_hash: null }))
    },

    async addLine(callId: string, n: number, line: CallLine): Promise<void> {
      await db
        .insertInto('call_lines')
        .values({ call_id: callId, n, ...line })
        .execute()
    },

    async lines(callId: string): Promise<CallLine[]> {
      return db
        .selectFrom('call_lines')
        .select(['role', 'text'])
        .where('call_id', '=', callId)
        .orderBy('n')
        .execute()
    },

    async removeLines(callId: string): Promise<void> {
      await db.deleteFrom('call_lines').where('call_id', '=', callId).execute()
    },

    async dueFollowUps(limit: number): Promise<CallRow[]> {
      return db
        .selectFrom('calls')
        .selectAll()
        .where('follow_up', '=', 'due')
        .orderBy('ended_at')
        .limit(limit)
        .execute()
    },

    /** due → done or none; false: somebody else was first. */
    async followUp(id: string, to: 'done' | 'none'): Promise<boolean> {
      const result = await db
        .updateTable('calls')
        .set({ follow_up: to })
        .where('id', '=', id)
        .where('follow_up', '=', 'due')
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Of calls that ended before then the provider tells nothing more. */
    async forgetTokens(before: string): Promise<void> {
      await db
        .updateTable('calls')
        .set({ auth_token: null })
        .where('state', '=', 'ended')
        .where('auth_token', 'is not', null)
        .where('ended_at', '<', before)
        .execute()
    },

    async removeEnded(before: string): Promise<void> {
      await db.deleteFrom('calls').where('ended_at', '<', before).where('follow_up', '!=', 'due').execute()
    },
  }
}
