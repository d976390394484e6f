import { branchLimits } from '@roost/contracts/conversations/chat'
import { sql } from 'kysely'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import { pictureStore } from './picture-store.ts'
import { branchTitle, storedFiles } from './rules.ts'
import { chatStore, type MessagePosition, type SessionRow } from './store.ts'
import type { ChatTables } from './tables.ts'

/**
 * Fills a new session with the messages of `source` up to a message. The runtime has no session for it, so the first
 * turn sends the messages along. Throws `session_not_found` and `not_found`.
 */
export async function fillBranch(
  tx: Tx,
  source: SessionRow,
  { messageId, blank }: { messageId: string; blank: SessionRow },
): Promise<SessionRow> {
  const store = chatStore(tx)
  // Locked, so that nobody deletes the pictures before the branch refers to them.
  if (!(await store.hold(source.id))) throw new Fault('session_not_found')
  const last = await store.message(messageId)
  if (last?.session_id !== source.id) throw new Fault('not_found', 'There is no such message.')
  const branch = { ...blank, title: branchTitle(source.title) }
  if (!(await store.insertSession(branch))) throw new Error('Inserting a session without a key conflicted.')
  const forgotten = await copyMessages(tx, source, { branchId: branch.id, last })
  const copies = await filesOf(tx, branch.id)
  const pictures = copies
    .flatMap(({ files }) => storedFiles(files) ?? [])
    .flatMap(({ picture_id }) => picture_id ?? [])
  await pictureStore(tx).link(source.id, branch.id, pictures)
  const filled = await store.update(branch.id, {
    message_count: copies.length,
    last_message_at: last.timestamp,
    remembers_from: forgotten,
  })
  return filled ?? branch
}

/**
 * Copies the messages in their order. Ratings stay with the original, and a question without its answer loses its run,
 * because it never runs in the branch. Returns how many copies a reset of the original had cleared.
 */
async function copyMessages(
  tx: Tx,
  source: SessionRow,
  { branchId, last }: { branchId: string; last: MessagePosition },
): Promise<number> {
  const db = tx.withTables<ChatTables>()
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
}

async function filesOf(tx: Tx, sessionId: string): Promise<{ files: string | null }[]> {
  return tx
    .withTables<ChatTables>()
    .selectFrom('chat_messages')
    .select('files')
    .where('session_id', '=', sessionId)
    .execute()
}
