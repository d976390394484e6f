import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import { databaseSuite } from './suite.ts'

forEachDialect((dialect, open) => {
  databaseSuite(dialect, open)

  if (dialect === 'sqlite') {
    test('a new file and its companions are readable by their owner only', async () => {
      await using db = await open({ migrated: false })
      await db.withTables().schema.createTable('nest').addColumn('id', 'text').execute()
      const path = db.url.slice('sqlite:'.length)
      for (const file of [path, `${path}-wal`, `${path}-shm`]) {
        assert.equal(statSync(file).mode & 0o777, 0o600)
      }
    })
  }
})
