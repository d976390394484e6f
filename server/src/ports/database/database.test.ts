import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { sql } from 'kysely'
import { forEachDialect } from '../../test/dialects.ts'
import type { Executor } from './port.ts'
import { databaseSuite } from './suite.ts'

type Nest = { nest: { id: string } }

forEachDialect((dialect, open) => {
  databaseSuite(dialect, open)

  if (dialect === 'sqlite') {
    test('a process with continuous writes does not starve others', async () => {
      await using db = await open({ migrated: false })
      await using other = await db.openAgain()
      await db.withTables().schema.createTable('nest').addColumn('id', 'text').execute()
      let isOtherIn = false
      let written = 0
      const write = (on: Executor, id: string) =>
        on.withTables<Nest>().insertInto('nest').values({ id }).execute()
      const writeForLong = () =>
        db.atomically(async (tx) => {
          if (isOtherIn) return
          await sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
            select max(i) from n`.execute(tx.withTables<Nest>())
          await write(tx, 'mine')
          written += 1
        })
      const ownWrites = Array.from({ length: 400 }, writeForLong)
      await ownWrites[0]
      await write(other, 'other')
      isOtherIn = true
      const before = written
      await Promise.all(ownWrites)
      assert.ok(before < ownWrites.length, 'the other write came before the last of them')
    })

    test('a new file and its companions are readable only by their owner', async () => {
      await using db = await open({ migrated: false })
      await db.withTables().schema.createTable('nest').addColumn('id', 'text').execute()
      const path = db.url.slice('sqlite:'.length)
      for (const file of [path, `${path}-wal`, `${path}-shm`]) {
        assert.equal(statSync(file).mode & 0o777, 0o600)
      }
    })
  }
})
