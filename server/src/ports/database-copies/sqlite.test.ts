import assert from 'node:assert/strict'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sqliteCopies } from './sqlite.ts'

test('a log of a deleted database changes nothing in the one that replaces it', async () => {
  await using world = await openWorld()
  const { path, copy } = world
  await rm(path)
  await copyFile(world.log, `${path}-wal`)
  await sqliteCopies(path).replaceWith(copy)
  const database = new DatabaseSync(path)
  assert.deepEqual({ ...database.prepare('select text from rows').get() }, { text: 'copied' })
  database.close()
})

test('a replacement that fails leaves the database and no draft', async () => {
  await using world = await openWorld()
  const { path, copy } = world
  const reader = new DatabaseSync(path)
  reader.exec('begin; select count(*) from rows')
  await assert.rejects(sqliteCopies(path).replaceWith(copy), /is in use/)
  assert.deepEqual({ ...reader.prepare('select text from rows').get() }, { text: 'logged' })
  reader.close()
  assert.deepEqual(
    (await readdir(world.folder)).filter((name) => name.endsWith('.replacement')),
    [],
  )
})

/** A database, a copy of its first state, and the log with its second state. */
async function openWorld() {
  const folder = await mkdtemp(join(tmpdir(), 'roost-sqlite-copies-'))
  const [path, copy, log] = ['roost.db', 'copy', 'log'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const database = new DatabaseSync(path)
  database.exec(
    "pragma journal_mode = wal; create table rows (text text); insert into rows values ('copied')",
  )
  database.exec('pragma wal_checkpoint(truncate)')
  await sqliteCopies(path).copyTo(copy)
  database.exec("update rows set text = 'logged'")
  await copyFile(`${path}-wal`, log)
  database.close()
  return {
    ...{ folder, path, copy, log },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}
