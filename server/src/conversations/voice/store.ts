import type { VoiceEndReason } from '@roost/contracts/conversations/voice'
import type { Executor } from '../../ports/database/port.ts'
import type { AgentVoicesTable, VoiceCallsTable, VoiceTables } from './tables.ts'

export type CallRow = VoiceCallsTable

/** Of whom with which agent. */
export type CallParty = { agentId: string; holder: string }

/** The only SQL about calls. */
export function voiceStore(executor: Executor) {
  const db = executor.withTables<VoiceTables>()

  const running = () => db.selectFrom('voice_calls').selectAll().where('ended_at', 'is', null)

  return {
    async voiceOf(agentId: string): Promise<Pick<AgentVoicesTable, 'prompt' | 'voice_name'>> {
      const query = db.selectFrom('agent_voices').selectAll().where('agent_id', '=', agentId)
      return (await query.executeTakeFirst()) ?? { prompt: null, voice_name: null }
    },

    /** What is left out stays. */
    async putVoice(
      agentId: string,
      patch: Partial<Pick<AgentVoicesTable, 'prompt' | 'voice_name'>>,
      updated_at: string,
    ): Promise<void> {
      await db
        .insertInto('agent_voices')
        .values({ agent_id: agentId, prompt: null, voice_name: null, ...patch, updated_at })
        .onConflict((c) => c.column('agent_id').doUpdateSet({ ...patch, updated_at }))
        .execute()
    },

    async insertCall(row: CallRow): Promise<void> {
      await db.insertInto('voice_calls').values(row).execute()
    },

    async call(id: string): Promise<CallRow | null> {
      return (await db.selectFrom('voice_calls').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
    },

    /** Not ended, and still to be believed in. */
    async active({ agentId, holder }: CallParty, now: string): Promise<CallRow | null> {
      const query = running()
        .where('agent_id', '=', agentId)
        .where('holder_id', '=', holder)
        .where('ends_at', '>', now)
        .orderBy('created_at', 'desc')
      return (await query.executeTakeFirst()) ?? null
    },

    async unended({ agentId, holder }: CallParty): Promise<CallRow[]> {
      return running().where('agent_id', '=', agentId).where('holder_id', '=', holder).execute()
    },

    async overdue(now: string, limit: number): Promise<CallRow[]> {
      return running().where('ends_at', '<=', now).limit(limit).execute()
    },

    /** False: it is over, or somebody is connected. */
    async connect(id: string, at: string, ends_at: string): Promise<boolean> {
      const result = await db
        .updateTable('voice_calls')
        .set({ connected_at: at, ends_at })
        .where('id', '=', id)
        .where('connected_at', 'is', null)
        .where('ended_at', 'is', null)
        .where('ends_at', '>', at)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** False: it was over before. */
    async end(id: string, at: string, reason: VoiceEndReason): Promise<boolean> {
      const result = await db
        .updateTable('voice_calls')
        .set({ ended_at: at, end_reason: reason })
        .where('id', '=', id)
        .where('ended_at', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    async addAsk(executionId: string, callId: string): Promise<void> {
      await db
        .insertInto('voice_asks')
        .values({ execution_id: executionId, call_id: callId, is_answered: 0 })
        .execute()
    },

    async askOf(executionId: string) {
      const query = db.selectFrom('voice_asks').selectAll().where('execution_id', '=', executionId)
      return (await query.executeTakeFirst()) ?? null
    },

    async noteAnswered(executionId: string): Promise<void> {
      await db
        .updateTable('voice_asks')
        .set({ is_answered: 1 })
        .where('execution_id', '=', executionId)
        .execute()
    },

    async answeredAsks(callId: string): Promise<string[]> {
      const rows = await db
        .selectFrom('voice_asks')
        .select('execution_id')
        .where('call_id', '=', callId)
        .where('is_answered', '=', 1)
        .orderBy('execution_id')
        .execute()
      return rows.map(({ execution_id }) => execution_id)
    },

    async removeAsk(executionId: string): Promise<void> {
      await db.deleteFrom('voice_asks').where('execution_id', '=', executionId).execute()
    },

    async removeOfAgent(agentId: string): Promise<void> {
      const calls = db.selectFrom('voice_calls').select('id').where('agent_id', '=', agentId)
      await db.deleteFrom('voice_asks').where('call_id', 'in', calls).execute()
      await db.deleteFrom('voice_calls').where('agent_id', '=', agentId).execute()
      await db.deleteFrom('agent_voices').where('agent_id', '=', agentId).execute()
    },
  }
}
