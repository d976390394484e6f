import type { Executor } from '../../ports/database/port.ts'
import type { CallBindingsTable, CallLinesTable, CallState, CallsTable, CallTables } from './tables.ts'

export type BindingRow = CallBindingsTable
export type CallRow = CallsTable
export type CallLine = Pick<CallLinesTable, 'role' | 'text'>

const openStates: CallState[] = ['placing', 'ringing', 'talking']
const unconnectedStates: CallState[] = ['placing', 'ringing']

/** The telephone account of each agent. */
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

    /** Returns false when there is no account. */
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

/** The SQL of calls. Each transition names its start states and returns whether it happened. */
export function callStore(executor: Executor) {
  const db = executor.withTables<CallTables>()

  const transition = (id: string, from: CallState[], patch: Partial<CallRow>) =>
    db.updateTable('calls').set(patch).where('id', '=', id).where('state', 'in', from)
  const isUpdated = async (query: ReturnType<typeof transition>) =>
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

    /** Calls of the agent that count against the cap since this time. */
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

    /** Start time of the agent's `count`-th newest call; null when there are fewer. */
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

    /** The newest call with this label since this time. */
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
        .where('state', 'in', openStates)
        .execute()
    },

    async overdue(now: string, limit: number): Promise<CallRow[]> {
      return db
        .selectFrom('calls')
        .selectAll()
        .where('deadline_at', '<', now)
        .where('state', 'in', openStates)
        .orderBy('deadline_at')
        .limit(limit)
        .execute()
    },

    /** The provider has accepted the call. Returns false when it has ended or is connected already. */
    async markPlaced(id: string, providerCallId: string, deadline: string): Promise<boolean> {
      await db.updateTable('calls').set({ provider_call_id: providerCallId }).where('id', '=', id).execute()
      return isUpdated(transition(id, ['placing'], { state: 'ringing', deadline_at: deadline }))
    },

    async markAnswered(id: string, at: string, deadline: string): Promise<boolean> {
      const query = transition(id, unconnectedStates, { answered_at: at, deadline_at: deadline })
      return isUpdated(query.where('answered_at', 'is', null))
    },

    /** Connects the media stream and consumes the ticket. Null when that is not allowed. */
    async connect(
      id: string,
      ticketHash: string,
      { at, ...patch }: { at: string; deadline_at: string; provider_call_id: string },
    ): Promise<CallRow | null> {
      const row = await transition(id, unconnectedStates, { ...patch, state: 'talking', ticket_hash: null })
        .where('ticket_hash', '=', ticketHash)
        .returningAll()
        .executeTakeFirst()
      if (!row) return null
      if (row.answered_at === null) {
        await db.updateTable('calls').set({ answered_at: at }).where('id', '=', id).execute()
      }
      return { ...row, answered_at: row.answered_at ?? at }
    },

    /** Renews the lease. Returns false when the call has ended. */
    async renew(id: string, deadline: string): Promise<boolean> {
      return isUpdated(transition(id, ['talking'], { deadline_at: deadline }))
    },

    /** The provider has reported the end of the call. */
    async markOver(id: string): Promise<void> {
      await db.updateTable('calls').set({ is_over: 1 }).where('id', '=', id).execute()
    },

    async uncount(id: string): Promise<void> {
      await db.updateTable('calls').set({ is_counted: 0 }).where('id', '=', id).execute()
    },

    /** Returns false when the call had already ended. */
    async close(id: string, patch: Partial<CallRow> & { ended_at: string }): Promise<boolean> {
      return isUpdated(
        transition(id, openStates, { ...patch, state: 'ended', deadline_at: null, ticket_hash: null }),
      )
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

    /** due → done or none. Returns false when another process was first. */
    async followUp(id: string, to: 'done' | 'none'): Promise<boolean> {
      const result = await db
        .updateTable('calls')
        .set({ follow_up: to })
        .where('id', '=', id)
        .where('follow_up', '=', 'due')
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Removes the tokens of calls that ended before this time; no more status updates are expected. */
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
