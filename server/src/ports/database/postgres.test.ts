import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { silentLog } from '../log.ts'
import { openDatabase } from './open.ts'

const url = process.env.ROOST_TEST_POSTGRES_URL ?? ''

describe('postgres', { skip: url === '' && 'ROOST_TEST_POSTGRES_URL is not set' }, () => {
  test('a connection that the server closes between two statements fails only that transaction', async () => {
    const [db, other] = [await openDatabase(url, silentLog), await openDatabase(url, silentLog)]
    try {
      const lost = db.atomically(async (tx) => {
        const on = tx.withTables()
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(on)
        await sql`select pg_terminate_backend(${rows[0]?.pid}, 10000)`.execute(other.withTables())
        // The close is noticed while no query is running.
        await new Promise((done) => setImmediate(done))
        await sql`select 1`.execute(on)
      })
      await assert.rejects(lost)
      await db.ping()
    } finally {
      await Promise.all([db.close(), other.close()])
    }
  })
})
