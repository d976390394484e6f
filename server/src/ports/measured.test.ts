import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createMeters } from '../kit/platform-meters.ts'
import { createFakeEngine } from './containers/fake.ts'
import { timedContainers } from './containers/timed.ts'
import { openDatabase } from './database/open.ts'
import { watchEventLoop } from './event-loop.ts'
import { silentLog } from './log.ts'

test('each database statement is observed by kind, inside and outside of transactions', async (t) => {
  const meters = createMeters()
  const folder = await mkdtemp(join(tmpdir(), 'roost-measured-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const db = await openDatabase(`sqlite:${join(folder, 'roost.db')}`, silentLog, meters)
  const on = db.withTables<{ t: { a: number } }>()
  await sql`create table t (a integer)`.execute(on)
  await db.atomically(
    async (tx) =>
      void (await tx.withTables<{ t: { a: number } }>().insertInto('t').values({ a: 1 }).execute()),
  )
  await on.selectFrom('t').selectAll().execute()
  await assert.rejects(sql`select * from missing`.execute(on))
  await db.close()
  const text = await meters.databaseSeconds.text()
  assert.match(text, /_count\{operation="insert"\} 1\n/)
  assert.match(text, /_count\{operation="select"\} 2\n/)
  assert.match(text, /_count\{operation="other"\} [1-9]/)
  assert.match(await meters.databaseErrors.text(), /\{operation="select"\} 1\n/)
})

test('requests to the engine are observed by operation and result; its state stays readable', async () => {
  const { engineSeconds } = createMeters()
  const engine = createFakeEngine({}).containers('one')
  const timed = timedContainers(engine, engineSeconds)
  assert.equal(timed.kind, 'fake')
  assert.deepEqual(timed.runtimes, engine.runtimes)
  assert.equal((await timed.ping()).name, (await engine.ping()).name)
  await assert.rejects(timed.start('missing'))
  const text = await engineSeconds.text()
  assert.match(text, /_count\{operation="ping",result="ok"\} 1\n/)
  assert.match(text, /_count\{operation="start",result="error"\} 1\n/)
})

test('a blocked event loop is observed', async () => {
  const seen = new EventTarget()
  const delays: number[] = []
  const stop = watchEventLoop({
    observe(_, seconds) {
      delays.push(seconds)
      seen.dispatchEvent(new Event('sample'))
    },
  })
  // The timer of the watch does not keep this process alive.
  const alive = setInterval(() => {}, 1000)
  const first = once(seen, 'sample')
  const until = performance.now() + 1500
  while (performance.now() < until);
  await first
  stop()
  clearInterval(alive)
  assert.ok((delays[0] ?? 0) > 0.1)
})
