import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blankRow } from '../../agents/records/index.ts'
import { migrations } from '../../migrations/index.ts'
import { migrate } from '../../ports/database/migrator.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { runRow } from '../../test/run-rows.ts'

const at = '2026-01-05T08:00:00.000Z'
const schedule = {
  ...{ number: 1, agent_id: 'a', name: 's', cron_expression: '* * * * *', message: 'm', enabled: 1 },
  ...{ timezone: 'UTC', misfire_policy: 'skip', created_by: 'x', created_at: at, updated_at: at },
  ...{ armed_at: at, position: 1, max_retries: 0, retry_delay_seconds: 60 },
  ...{ validation_enabled: 0, validation_timeout_seconds: 60 },
}
const source = { source_user_id: null, source_agent_id: null, source_mcp_scope: null }

forEachDialect((_, open) => {
  test('an agent keeps its conversations for its owner', async () => {
    await using db = await open({ migrated: false })
    const now = () => new Date(at)
    await migrate(
      db,
      migrations.filter(({ name }) => name < '0054'),
      { now },
    )
    const old = db.withTables<Record<string, object>>()
    const agent: Record<string, unknown> = { ...blankRow('caller', at), id: 'a', owner_id: 'u1' }
    for (const later of ['strangers', 'waiting', 'engine_id', 'forked_from', 'attempt_set_id'])
      delete agent[later]
    await old.insertInto('agents').values(agent).execute()
    const session = {
      ...{ user_id: 'u1', kind: 'chat', status: 'active', started_at: at, message_count: 0 },
      ...{ total_cost_micros: 0, context_used: 0, context_max: 0, remembers_from: 0, agent_id: 'b' },
    }
    for (const [id, holder_id, current_key] of [
      ['current', 'agent:a', 'b:agent:a'],
      ['earlier', 'agent:a', null],
      ['of a deleted agent', 'agent:gone', null],
      ['of a person', 'user:a', 'b:user:a'],
    ]) {
      await old
        .insertInto('chat_sessions')
        .values({ ...session, id, holder_id, current_key })
        .execute()
    }
    await migrate(db, migrations, { now })
    const rows = await db
      .withTables<{ chat_sessions: { id: string; holder_id: string; current_key: string | null } }>()
      .selectFrom('chat_sessions')
      .select(['id', 'holder_id', 'current_key'])
      .orderBy('id')
      .execute()
    assert.deepEqual(
      rows.map(({ id, holder_id, current_key }) => [id, holder_id, current_key]),
      [
        ['current', 'agent:a/user:u1', 'b:agent:a/user:u1'],
        ['earlier', 'agent:a/user:u1', null],
        ['of a deleted agent', 'agent:gone', null],
        ['of a person', 'user:a', 'b:user:a'],
      ],
    )
  })

  test('schedules and runs that may still start get their principal from what the row says', async () => {
    await using db = await open({ migrated: false })
    const now = () => new Date(at)
    await migrate(
      db,
      migrations.filter(({ name }) => name < '0054'),
      { now },
    )
    const old = db.withTables<Record<string, object>>()
    const insert = (table: string, row: object) => old.insertInto(table).values(row).execute()
    await insert('schedules', { ...schedule, id: 'of-person', created_by_id: 'u1' })
    await insert('schedules', { ...schedule, id: 'of-agent', created_by_id: null })
    const runs: [string, object, string | null][] = [
      ['user', { source_user_id: 'u1' }, 'user:u1'],
      ['address', { source_user_id: 'email:x@example.com' }, 'email:x@example.com'],
      ['agent', { source_user_id: 'u1', source_agent_id: 'b' }, 'agent:b'],
      ['connector', { source_user_id: 'u1', source_mcp_key_id: 'k', source_mcp_scope: 'connector' }, 'key:k'],
      ['visitor', { triggered_by: 'public', session_id: 's1' }, 'session:s1'],
      ['fired', { triggered_by: 'schedule', schedule_id: 'of-person' }, 'user:u1'],
      ['fired by hand', { source_user_id: 'u2', schedule_id: 'of-person' }, 'user:u1'],
      ['purged', { triggered_by: 'schedule', schedule_id: 'purged' }, 'agent:a'],
      ['ended', { source_user_id: 'u1', status: 'success' }, null],
    ]
    for (const [id, over] of runs) {
      const row: Record<string, unknown> = { ...runRow({ id, agent_id: 'a', status: 'queued' }) }
      for (const later of ['principal', 'log_removed_at', 'line_bytes', 'left_out_lines', 'left_out_at'])
        delete row[later]
      await insert('executions', { ...row, ...source, ...over })
    }
    await migrate(db, migrations, { now })
    const principalsOf = async (table: string) => {
      const rows = await db
        .withTables<Record<string, { id: string; principal: string | null }>>()
        .selectFrom(table)
        .select(['id', 'principal'])
        .execute()
      return Object.fromEntries(rows.map(({ id, principal }) => [id, principal]))
    }
    assert.deepEqual(await principalsOf('schedules'), { 'of-person': 'user:u1', 'of-agent': 'agent:a' })
    assert.deepEqual(
      await principalsOf('executions'),
      Object.fromEntries(runs.map(([id, , expected]) => [id, expected])),
    )
  })
})
