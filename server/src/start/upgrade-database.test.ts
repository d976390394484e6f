import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrations } from '../migrations/index.ts'
import { migrate } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import { DatabaseDown, type Db, SchemaError } from '../ports/database/port.ts'
import { silentLog } from '../ports/log.ts'
import { createTestClock } from '../test/clock.ts'
import { untilUpgraded } from './upgrade-database.ts'

async function openEmpty() {
  const folder = await mkdtemp(join(tmpdir(), 'roost-upgraded-'))
  const db = await openDatabase(`sqlite:${join(folder, 'roost.db')}`, silentLog)
  return {
    db,
    async [Symbol.asyncDispose]() {
      await db.close()
      await rm(folder, { recursive: true })
    },
  }
}

function waiting(db: Db) {
  const clock = createTestClock()
  const lines: string[] = []
  const stopping = new AbortController()
  const outcome = untilUpgraded(db, {
    ...{ clock, signal: stopping.signal },
    progress: (line) => void lines.push(line),
  })
  return { clock, lines, stopping, outcome }
}

test('waits until another process has applied the migrations, and names the one that is missing', async () => {
  await using opened = await openEmpty()
  const { db } = opened
  const { clock, lines, outcome } = waiting(db)
  await clock.waitingFor(1)
  await clock.advance(1)
  await clock.waitingFor(1)
  assert.deepEqual(lines, [`waiting for the migration ${migrations[0]?.name}, which another process applies`])
  await migrate(db, migrations, { now: clock.now })
  await clock.advance(1)
  assert.equal(await outcome, true)
})

test('a database that does not respond yet is waited for, and a stop ends the wait', async () => {
  const down = {
    withTables() {
      throw new DatabaseDown(null)
    },
  } as unknown as Db
  const { clock, lines, stopping, outcome } = waiting(down)
  await clock.waitingFor(1)
  assert.deepEqual(lines, ['waiting for the database'])
  stopping.abort()
  assert.equal(await outcome, false)
})

test('the schema of a later version is refused immediately', async () => {
  await using opened = await openEmpty()
  const { db } = opened
  const later = { name: '9999-later', up: async () => {} }
  await migrate(db, [...migrations, later], { now: () => new Date() })
  await assert.rejects(waiting(db).outcome, SchemaError)
})
