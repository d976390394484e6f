import assert from 'node:assert/strict'
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { migrations } from '../migrations/index.ts'
import { migrate, migrationState } from '../ports/database/migrator.ts'
import { openDatabase } from '../ports/database/open.ts'
import { silentLog } from '../ports/log.ts'
import type { ProcessMessage } from './supervision.ts'

const file = join(import.meta.dirname, 'migrate.ts')

test('exit 0 with a complete schema; a second start has nothing to do', async () => {
  using folder = temporaryFolder()
  const env = { ROOST_DATA_DIR: folder.path }
  const first = await run(env)
  assert.deepEqual([first.code, first.errors], [0, ''])
  assert.match(first.output, new RegExp(`${migrations.length} migrations applied`))
  assert.match((await run(env)).output, /^the schema is complete$/m)
  const db = await openDatabase(`sqlite:${join(folder.path, 'roost.db')}`, silentLog)
  assert.equal((await migrationState(db, migrations)).first_pending, null)
  await db.close()
})

test('eight concurrent processes apply each migration once', async () => {
  using folder = temporaryFolder()
  const done = await Promise.all(Array.from({ length: 8 }, () => run({ ROOST_DATA_DIR: folder.path })))
  assert.deepEqual(
    done.map(({ code, errors }) => [code, errors]),
    Array.from({ length: 8 }, () => [0, '']),
  )
  const applied = done.flatMap(({ output }) => output.match(/applying migration \S+/g) ?? [])
  assert.equal(applied.length, migrations.length)
})

test('progress is sent to the supervisor if there is one', async () => {
  using folder = temporaryFolder()
  const child = fork(file, { env: { ...process.env, ROOST_DATA_DIR: folder.path }, silent: true })
  const messages: ProcessMessage[] = []
  child.on('message', (message: ProcessMessage) => messages.push(message))
  const [code] = await once(child, 'close')
  assert.equal(code, 0)
  assert.ok(messages.length >= 2)
  assert.ok(messages.every(({ type }) => type === 'progress'))
})

test('exit 78 names every invalid variable and repeats no value', async () => {
  const { code, errors } = await run({ ROOST_DATABASE_URL: 'mysql://root:hunter2@db/x', ROOST_PORT: 'many' })
  assert.equal(code, 78)
  assert.match(errors, /ROOST_DATABASE_URL/)
  assert.match(errors, /ROOST_PORT/)
  assert.doesNotMatch(errors, /hunter2/)
})

test('exit 78 if a later version has migrated the database', async () => {
  using folder = temporaryFolder()
  const db = await openDatabase(`sqlite:${join(folder.path, 'roost.db')}`, silentLog)
  const later = { name: '9999-later', up: async () => {} }
  await migrate(db, [...migrations, later], { now: () => new Date() })
  await db.close()
  const { code, errors } = await run({ ROOST_DATA_DIR: folder.path })
  assert.equal(code, 78)
  assert.match(errors, /newer schema.*9999-later/)
})

async function run(env: Record<string, string>) {
  const child: ChildProcess = spawn(process.execPath, [file], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  assert.ok(child.stdout && child.stderr)
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code, output, errors }
}

function temporaryFolder(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'roost-migrate-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}
