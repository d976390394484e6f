import type { VoiceEndReason } from '@roost/contracts/conversations/voice'
import type { Executor } from '../../ports/database/port.ts'

/** A missing row or a null column means the default. */
export type AgentVoicesTable = {
  agent_id: string
  prompt: string | null
  voice_name: string | null
  updated_at: string
}

export type VoiceCallsTable = {
  id: string
  agent_id: string
  /** The conversation. */
  session_id: string
  /** As in `chat_sessions`. */
  holder_id: string
  voice_name: string
  created_at: string
  /** Null until the person's socket is open. */
  connected_at: string | null
  /** Latest end of the call, even if its process has crashed. */
  ends_at: string
  ended_at: string | null
  /** One of `voiceEndReasons`. */
  end_reason: string | null
}

/** Runs whose answer was not spoken yet. */
export type VoiceAsksTable = {
  execution_id: string
  call_id: string
  /** 1 when the run has ended. */
  is_answered: number
}

export type VoiceTables = {
  agent_voices: AgentVoicesTable
  voice_calls: VoiceCallsTable
  voice_asks: VoiceAsksTable
}

export type CallRow = VoiceCallsTable

/** A person, by holder id, and an agent. */
export type CallParty = { agentId: string; holder: string }

/** The SQL of calls. */
export function voiceStore(executor: Executor) {
  const db = executor.withTables<VoiceTables>()

  const unendedCalls = () => db.selectFrom('voice_calls').selectAll().where('ended_at', 'is', null)

  return {
    async voiceOf(agentId: string): Promise<Pick<AgentVoicesTable, 'prompt' | 'voice_name'>> {
      const query = db
        .selectFrom('agent_voices')
        .select(['prompt', 'voice_name'])
        .where('agent_id', '=', agentId)
      return (await query.executeTakeFirst()) ?? { prompt: null, voice_name: null }
    },

    /** Omitted fields keep their value. */
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

    /** The newest call that has neither ended nor exceeded its time limit. */
    async active({ agentId, holder }: CallParty, now: string): Promise<CallRow | null> {
      const query = unendedCalls()
        .where('agent_id', '=', agentId)
        .where('holder_id', '=', holder)
        .where('ends_at', '>', now)
        .orderBy('created_at', 'desc')
      return (await query.executeTakeFirst()) ?? null
    },

    async unendedOf({ agentId, holder }: CallParty): Promise<CallRow[]> {
      return unendedCalls().where('agent_id', '=', agentId).where('holder_id', '=', holder).execute()
    },

    async overdue(now: string, limit: number): Promise<CallRow[]> {
      return unendedCalls().where('ends_at', '<=', now).limit(limit).execute()
    },

    /** Returns false when the call has ended or somebody is connected. */
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

    /** Returns false when the call had already ended. */
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

    async markAnswered(executionId: string): Promise<void> {
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

    async removeAsks(executionIds: readonly string[]): Promise<void> {
      if (executionIds.length === 0) return
      await db
        .deleteFrom('voice_asks')
        .where('execution_id', 'in', [...executionIds])
        .execute()
    },

    async removeOfAgent(agentId: string): Promise<void> {
      const calls = db.selectFrom('voice_calls').select('id').where('agent_id', '=', agentId)
      await db.deleteFrom('voice_asks').where('call_id', 'in', calls).execute()
      await db.deleteFrom('voice_calls').where('agent_id', '=', agentId).execute()
      await db.deleteFrom('agent_voices').where('agent_id', '=', agentId).execute()
    },
  }
}
