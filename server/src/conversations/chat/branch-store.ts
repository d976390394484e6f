import { branchLimits } from '@roost/contracts/conversations/chat'
import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { MessagePosition, SessionRow } from './store.ts'
import type { ChatTables } from './tables.ts'

/** The SQL of branches. */
export function branchStore(executor: Executor) {
  const db = executor.withTables<ChatTables>()
  return {
    /**
     * Copies the messages in their order. Ratings stay with the original, and a question without its answer loses its run,
     * because it never runs in the branch. Returns how many copies a reset of the original had cleared.
     */
    async copyMessages(
      source: SessionRow,
      { branchId, last }: { branchId: string; last: MessagePosition },
    ): Promise<number> {
      const isIncluded = sql`session_id = ${source.id} and (turn, position) <= (${last.turn}, ${last.position})`
      const run = sql`coalesce(execution_id, copied_execution_id)`
      const newest = sql`
        select *, ${run} as run, row_number() over backwards as age,
          sum(length(content) + length(coalesce(tool_calls, ''))) over backwards as characters
        from chat_messages where ${isIncluded}
        window backwards as (order by turn desc, position desc rows between unbounded preceding and current row)`
      const numbered = sql`
        select *, row_number() over (order by age desc) as number,
          max(case when role = 'assistant' then 1 else 0 end) over (partition by turn, run) as is_answered
        from (${newest}) as newest
        where age = 1 or (age <= ${branchLimits.messages} and characters <= ${branchLimits.characters})`
      await sql`
        insert into chat_messages (
          id, session_id, position, turn, role, content, timestamp, source, execution_id, copied_execution_id,
          cost_micros, cost_estimated, context_used, context_max, tool_calls, execution_time_ms, output_tokens,
          files, error_code, rating, is_aside, voice_call_id)
        select cast(${branchId} as text) || '.' || cast(number as text), cast(${branchId} as text), number,
          min(number) over (partition by turn), role, content, timestamp, source, null,
          case when role = 'user' and error_code is null and is_answered = 0 then null else run end,
          cost_micros, cost_estimated, context_used, context_max, tool_calls, execution_time_ms, output_tokens,
          files, error_code, null, 0, null
        from (${numbered}) as numbered`.execute(db)
      if (source.remembers_from === 0) return 0
      const { rows } = await sql<{ forgotten: number | string }>`
        select count(*) as forgotten from (${numbered}) as numbered where position <= ${source.remembers_from}`.execute(
        db,
      )
      return Number(rows[0]?.forgotten ?? 0)
    },

    /** The notes of files of all messages, one row per message. */
    async filesOf(sessionId: string): Promise<{ files: string | null }[]> {
      return db.selectFrom('chat_messages').select('files').where('session_id', '=', sessionId).execute()
    },
  }
}
