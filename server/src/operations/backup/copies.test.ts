import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabaseCopies } from '../../ports/database-copies/open.ts'
import { createScratchDatabase } from '../../ports/database-copies/scratch.ts'
import { forEachDialect } from '../../test/dialects.ts'

const path = process.env.PATH ?? ''
type Settings = { settings: { key: string; value: string; updated_at: string } }

forEachDialect((_dialect, open) => {
  test('a copy and the scratch database restored from it have the same number of rows', async () => {
    await using db = await open()
    const folder = await mkdtemp(join(tmpdir(), 'roost-copies-'))
    try {
      const before = (await db.withTables<Settings>().selectFrom('settings').selectAll().execute()).length
      const values = ['a\nb', '\\.', '\n\\.\n', 'COPY public.agents (id) FROM stdin;', 'x\u2028y\r', '']
      await db
        .withTables<Settings>()
        .insertInto('settings')
        .values(values.map((value, at) => ({ key: `odd-${at}`, value, updated_at: '2026' })))
        .execute()
      const copies = openDatabaseCopies(db.url, { path })
      const [first, second] = [join(folder, 'first'), join(folder, 'second')]
      await copies.copyTo(first)
      const counts = await copies.countRows(first)
      assert.equal(counts.settings, before + values.length)
      assert.equal(counts.agents, 0)
      const scratch = await createScratchDatabase(db.url, { folder, path })
      try {
        const restored = openDatabaseCopies(scratch.url, { path })
        await restored.refuseFull()
        await restored.restoreFrom(first)
        await restored.copyTo(second)
        assert.deepEqual(await restored.countRows(second), counts)
      } finally {
        await scratch.drop()
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
