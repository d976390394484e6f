import { sql } from 'kysely'
import type { Migration } from '../ports/database/port.ts'

/** On whose behalf runs and schedules work, and what shares and strangers may do with a workspace. */
export const principals: Migration = {
  name: '0054-principals',
  async up(db) {
    await db.schema
      .alterTable('agent_shares')
      .addColumn('access', 'text', (c) => c.notNull().defaultTo('write'))
      .execute()
    await db.schema
      .alterTable('agents')
      .addColumn('strangers', 'text', (c) => c.notNull().defaultTo('read'))
      .execute()
    await db.schema
      .alterTable('schedules')
      .addColumn('principal', 'text', (c) => c.notNull().defaultTo(''))
      .execute()
    await sql`update schedules set principal = case
      when created_by_id is not null then 'user:' || created_by_id
      else 'agent:' || agent_id end`.execute(db)

    await db.schema.alterTable('executions').addColumn('principal', 'text').execute()
    // Runs that may still start, or be tried again. The others have ended; who they worked for stays unknown.
    await sql`update executions set principal = case
      when source_agent_id is not null then 'agent:' || source_agent_id
      when source_mcp_scope = 'connector' then 'key:' || source_mcp_key_id
      when triggered_by in ('public', 'paid', 'slack') then 'session:' || coalesce(session_id, id)
      when schedule_id is not null
        then coalesce((select principal from schedules where schedules.id = schedule_id), 'agent:' || agent_id)
      when source_user_id like 'email:%' then source_user_id
      when source_user_id is not null then 'user:' || source_user_id
      else 'agent:' || agent_id end
      where status in ('queued', 'running', 'pending_retry')`.execute(db)

    // An agent continues its conversations when it works for its owner.
    const owner = sql`(select '/user:' || owner_id from agents where 'agent:' || agents.id = holder_id)`
    await sql`update chat_sessions set
      current_key = current_key || ${owner}, holder_id = holder_id || ${owner}
      where holder_id in (select 'agent:' || id from agents where owner_id <> '')`.execute(db)
  },
}
