import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { silentLog } from '../log.ts'
import { namedFault } from './down.ts'
import { openDatabase } from './open.ts'
import { DatabaseDown } from './port.ts'

test('a server that is away is DatabaseDown, in a transaction and without', async () => {
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

test('what a server says of itself is named, what it says of a statement is not', () => {
  const said = (code: string) => namedFault(Object.assign(new Error('no'), { code }))
  for (const code of ['57P01', '57P03', '08006', '53300']) assert.ok(said(code) instanceof DatabaseDown, code)
  for (const code of ['23505', '40001', '42P01', '57014'])
    assert.ok(!(said(code) instanceof DatabaseDown), code)
})
