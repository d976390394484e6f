import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrations } from '../../migrations/index.ts'
import { migrate } from '../../ports/database/migrator.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { chatStore } from './store.ts'
import type { ChatTables } from './tables.ts'

const at = '2026-01-05T08:00:00.000Z'
const session = {
  ...{ id: 's', agent_id: 'a', holder_id: 'user:u', user_id: 'u', user_email: null, title: null },
  ...{ kind: 'chat', status: 'active', current_key: null, started_at: at, message_count: 6 },
  ...{ total_cost_micros: 0, context_used: 0, context_max: 0, remembers_from: 0 },
} as const
/** Two questions with their answers, a message of a task, and an answer whose question is in another session. */
const stored = [
  ['q1', 'user', 'e1'],
  ['q2', 'user', 'e2'],
  ['aside', 'assistant', null],
  ['a1', 'assistant', 'e1'],
  ['delivered', 'assistant', 'e3'],
  ['a2', 'assistant', 'e2'],
] as const

forEachDialect((_, open) => {
  test('messages from before the migration are listed by turns too', async () => {
    await using db = await open({ migrated: false })
    const now = () => new Date(at)
    const earlier = migrations.filter(({ name }) => name < '0049')
    assert.ok(earlier.length > 0 && earlier.length < migrations.length)
    await migrate(db, earlier, { now })
    // The columns before the migration.
    const oldSchema = db.withTables<{ chat_sessions: object; chat_messages: object }>()
    await oldSchema.insertInto('chat_sessions').values(session).execute()
    for (const [index, [id, role, execution_id]] of stored.entries()) {
      const message = { id, session_id: 's', position: index + 1, role, content: id, timestamp: at }
      await oldSchema
        .insertInto('chat_messages')
        .values({ ...message, source: 'text', execution_id })
        .execute()
    }
    await migrate(db, migrations, { now })
    const rows = await chatStore(db).messages('s', 10)
    assert.deepEqual(
      rows.map(({ id, turn }) => [id, turn]),
      [
        ['q1', 1],
        ['a1', 1],
        ['q2', 2],
        ['a2', 2],
        ['aside', 3],
        ['delivered', 5],
      ],
    )
    const { total } = await db
      .withTables<ChatTables>()
      .selectFrom('chat_messages')
      .select((e) => e.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    assert.equal(Number(total), stored.length)
  })
})
