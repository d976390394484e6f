import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { silentLog } from '../log.ts'
import { namedFault } from './down.ts'
import { openDatabase } from './open.ts'
import { DatabaseDown, DatabaseFull } from './port.ts'

test('an unreachable server is DatabaseDown, inside and outside a transaction', async () => {
  const db = await openDatabase('postgres://nobody@127.0.0.1:1/none', silentLog)
  await assert.rejects(db.ping(), DatabaseDown)
  const rows = (on: Pick<typeof db, 'withTables'>) =>
    on.withTables<{ settings: { key: string } }>().selectFrom('settings').selectAll().execute()
  await assert.rejects(rows(db), DatabaseDown)
  await assert.rejects(db.atomically(rows), DatabaseDown)
  await db.close()
})

test('a server that hangs up is DatabaseDown', async () => {
  const server = createServer((socket) => socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const db = await openDatabase(`postgres://nobody@127.0.0.1:${port}/none`, silentLog)
  await assert.rejects(db.ping(), DatabaseDown)
  await db.close()
  server.close()
})

test('errors about the server are named, errors about a statement are not', () => {
  const faultOf = (code: string) => namedFault(Object.assign(new Error('no'), { code }))
  for (const code of ['57P01', '57P03', '08006', '53300'])
    assert.ok(faultOf(code) instanceof DatabaseDown, code)
  for (const code of ['23505', '40001', '42P01', '57014'])
    assert.ok(!(faultOf(code) instanceof DatabaseDown), code)
})

test('SQLite: a full disk is DatabaseFull; data stays readable and becomes writable again', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'roost-full-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await using db = await closing(`sqlite:${join(folder, 'one.db')}`)
  const { schema } = db.withTables()
  await schema.createTable('nest').addColumn('id', 'text').execute()
  const write = (on: Pick<typeof db, 'withTables'>) =>
    on
      .withTables<{ nest: { id: string } }>()
      .insertInto('nest')
      .values({ id: 'x'.repeat(100_000) })
      .execute()
  const limit = (pages: number) => sql.raw(`pragma main.max_page_count = ${pages}`).execute(db.withTables())
  await limit(10)
  await assert.rejects(write(db), DatabaseFull)
  await assert.rejects(db.atomically(write), DatabaseFull)
  await db.ping()
  await limit(1000)
  await db.atomically(write)
  const rows = await db.withTables<{ nest: { id: string } }>().selectFrom('nest').selectAll().execute()
  assert.equal(rows.length, 1)
})

test('PostgreSQL: a full disk is DatabaseFull', () => {
  assert.ok(namedFault(Object.assign(new Error('no'), { code: '53100' })) instanceof DatabaseFull)
})

async function closing(url: string) {
  const db = await openDatabase(url, silentLog)
  return Object.assign(db, { [Symbol.asyncDispose]: () => db.close() })
}
