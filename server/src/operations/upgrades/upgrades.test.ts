import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openVault } from '../../foundation/vault/index.ts'
import { openDatabase } from '../../ports/database/open.ts'
import type { MigrationState } from '../../ports/database/port.ts'
import { openDatabaseCopies } from '../../ports/database-copies/open.ts'
import type { DatabaseCopies } from '../../ports/database-copies/port.ts'
import { silentLog } from '../../ports/log.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { type Code, planRollback, rollBackData, type UpgradeData, upgradeData } from './index.ts'

const one: Code = { version: '1.0.0', commit: 'a'.repeat(40), root: '/srv/roost' }
const two: Code = { ...one, version: '2.0.0', commit: 'b'.repeat(40) }
type Tables = { settings: { key: string; value: string; updated_at: string }; added_later: { id: string } }

forEachDialect((dialect, open) => {
  test('an upgrade keeps a verified backup, and a rollback returns to it and can itself be undone', async () => {
    await using world = await openWorld(open)
    const { dataDir } = world
    assert.deepEqual(await world.upgrade(one), [])
    assert.deepEqual(await world.backups(), [], 'nothing to migrate, no backup')
    await world.put('before')

    assert.deepEqual(await world.upgradeWithMigration(two), ['9999-later'])
    await world.put('after')
    const [backup = ''] = await world.backups()
    assert.match(backup, /^upgrade-\d{4}-.*-1\.0\.0$/)
    for (const file of ['manifest.json', 'database', 'encryption.key'])
      assert.equal((await stat(join(dataDir, 'upgrades', backup, file))).mode & 0o777, 0o600)

    const plan = await world.plan()
    assert.deepEqual([plan.from, plan.to, plan.backup?.name], [two, one, backup])
    const aside = (await world.rollBack()) ?? ''
    assert.deepEqual(await world.content(), { keys: ['before'], hasTable: false })
    await world.finish()
    await assert.rejects(world.plan(), /no upgrade to go back from/, 'a repeated command goes no further')

    assert.deepEqual((await world.plan(aside)).to, two)
    await world.rollBack(aside)
    await world.finish()
    assert.deepEqual(await world.content(), { keys: ['after', 'before'], hasTable: true })
    assert.equal((await world.plan()).backup?.name, backup, 'the undone rollback is possible again')
  })

  test('killed at any step and repeated, a rollback ends in the earlier state and keeps the replaced data', async () => {
    await using world = await openWorld(open)
    await world.upgrade(one)
    await world.put('before')
    await world.upgradeWithMigration(two)
    await world.put('after')
    const key = await readFile(join(world.dataDir, 'encryption.key'))
    for (const kill of ['copyTo', 'verify', 'replaceWith', 'after replaceWith'] as const) {
      await assert.rejects(world.rollBack(null, killedAt(world.copies, kill)), /killed/, kill)
    }
    await assert.rejects(world.upgrade(two), /A rollback was interrupted/)
    const plan = await world.plan()
    assert.ok(plan.is_resumed)
    const aside = (await world.rollBack()) ?? ''
    assert.equal(aside, plan.aside)
    await world.finish()
    assert.deepEqual(await world.content(), { keys: ['before'], hasTable: false })
    assert.equal((await world.plan(aside)).backup?.name, aside)
    assert.deepEqual(await readFile(join(world.dataDir, 'encryption.key')), key)
    assert.ok((await readdir(join(world.dataDir, 'upgrades'))).every((name) => !name.startsWith('.')))
  })

  test('a missing or damaged backup is refused and nothing changes', async () => {
    await using world = await openWorld(open)
    await world.upgrade(one)
    await assert.rejects(world.plan(), /no earlier version is recorded/)
    await world.put('before')
    await world.upgradeWithMigration(two)
    const [backup = ''] = await world.backups()
    const database = join(world.dataDir, 'upgrades', backup, 'database')
    const whole = await readFile(database)
    const flipped = Buffer.from(whole)
    flipped[whole.length >> 1] = (flipped[whole.length >> 1] ?? 0) ^ 1
    await writeFile(database, flipped)
    await assert.rejects(world.plan(), /is damaged/)
    await truncate(database, whole.length >> 1)
    await assert.rejects(world.plan(), /is damaged/)
    await rm(join(world.dataDir, 'upgrades', backup), { recursive: true })
    await assert.rejects(world.plan(), /does not exist/)
    await assert.rejects(world.plan('../etc'), /is not a backup/)
    assert.equal((await world.content()).hasTable, true)
  })

  test('a failed backup stops the upgrade before any change, and it can be left out', async () => {
    await using world = await openWorld(open)
    await world.upgrade(one)
    const state = await readFile(join(world.dataDir, 'upgrade-state.json'), 'utf8')
    const full = { freeBytes: async () => 1_000_000 }
    await assert.rejects(world.upgradeWithMigration(two, full), /has 1 MiB free.*--without-backup/)
    const broken = { copies: killedAt(world.copies, 'verify') }
    await assert.rejects(world.upgradeWithMigration(two, broken), /nothing was changed: killed/)
    const { url } = world
    const withoutPrograms = { copies: openDatabaseCopies(url, { path: '/nowhere' }) }
    if (dialect === 'postgres')
      await assert.rejects(
        world.upgradeWithMigration(two, withoutPrograms),
        /install the clients of PostgreSQL/,
      )
    assert.equal((await world.content()).hasTable, false)
    assert.deepEqual(await world.backups(), [])
    assert.equal(await readFile(join(world.dataDir, 'upgrade-state.json'), 'utf8'), state)
    await world.upgradeWithMigration(two, { ...broken, hasBackup: false })
    assert.equal((await world.content()).hasTable, true)
    await assert.rejects(world.plan(), /ran without a backup/)
  })

  test('a failed migration keeps its backup for the next attempt', async () => {
    await using world = await openWorld(open)
    await world.upgrade(one)
    await world.put('before')
    const migrate = async () => Promise.reject(new Error('no such column'))
    await assert.rejects(world.upgradeWithMigration(two, { migrate }), /no such column/)
    assert.deepEqual((await world.plan()).to, one)
    const made = await world.backups()
    const second = { applied: 11, expected: 12, first_pending: '9999-second' }
    await world.upgradeWithMigration({ ...two, version: '2.0.1' }, { state: async () => second })
    assert.deepEqual(await world.backups(), made)
    assert.deepEqual((await world.plan()).to, one)
  })

  const fixed = { ...two, version: '2.0.1', commit: 'c'.repeat(40) }
  for (const code of [two, fixed]) {
    test(`an upgrade killed after its last migration keeps its way back when ${code.version} starts`, async () => {
      await using world = await openWorld(open)
      await world.upgrade(one)
      await world.put('before')
      await world.upgradeAndKill(two)
      const [backup] = await world.backups()
      await world.upgrade(code, { state: migrated })
      const way = { previous: one, backup, without_backup: false }
      assert.deepEqual(await world.state(), { code, ...way, completed: true, migrations: 10 })
      assert.equal((await world.plan()).backup?.name, backup)
      await world.rollBack()
      await world.finish()
      assert.deepEqual(await world.content(), { keys: ['before'], hasTable: false })
    })
  }
})

for (const hasNumber of [true, false])
  test(`the earlier version after a failed upgrade, ${hasNumber ? 'with' : 'without'} a number of migrations`, async () => {
    await using world = await openWorld((await import('../../test/dialects.ts')).openTestDatabase)
    const migrate = async () => Promise.reject(new Error('no such column'))
    for (const hasBackup of [true, false]) {
      await world.upgrade(one)
      await assert.rejects(world.upgradeWithMigration(two, { migrate, hasBackup }), /no such column/)
      if (!hasNumber) await world.forgetMigrations()
      await world.upgrade(one)
      if (hasBackup || hasNumber) assert.equal((await world.plan()).backup, null)
      else await assert.rejects(world.plan(), /ran without a backup/, 'the data may have changed')
    }
  })

test('a repeated upgrade without a backup remembers the migrations of its first attempt', async () => {
  await using world = await openWorld((await import('../../test/dialects.ts')).openTestDatabase)
  await world.upgrade(one)
  await world.upgradeAndKill(two, { hasBackup: false })
  const migrate = async () => Promise.reject(new Error('no such column'))
  const state = async () => ({ applied: 11, expected: 12, first_pending: '9999-second' })
  const second = { hasBackup: false, migrate, state }
  await assert.rejects(world.upgradeWithMigration(two, second), /no such column/)
  // A version without the second migration.
  await world.upgrade({ ...two, version: '2.0.1' }, { state: migrated })
  await assert.rejects(world.plan(), /ran without a backup/)
})

test('an upgrade without a backup that was killed after its last migration has no way back', async () => {
  await using world = await openWorld((await import('../../test/dialects.ts')).openTestDatabase)
  await world.upgrade(one)
  await world.upgradeAndKill(two, { hasBackup: false })
  await world.upgrade(two, { state: migrated })
  await assert.rejects(world.plan(), /ran without a backup/)
})

test('an interrupted rollback keeps the backup that it restores, also when it is the oldest', async () => {
  await using world = await openWorld((await import('../../test/dialects.ts')).openTestDatabase)
  await world.upgrade(one)
  await world.put('before')
  const asides: string[] = []
  for (let day = 1; day <= 3; day++) {
    world.at(new Date(2026, 0, day))
    await world.upgradeWithMigration(two)
    asides.push((await world.rollBack()) ?? '')
    await world.finish()
  }
  const [oldest = ''] = asides
  world.at(new Date(2026, 0, 4))
  await world.rollBack(oldest)
  assert.equal((await world.plan()).backup?.name, oldest)
})

test('an upgrade that changed nothing is not repeated with its old backup', async () => {
  await using world = await openWorld((await import('../../test/dialects.ts')).openTestDatabase)
  await world.upgrade(one)
  const migrate = async () => Promise.reject(new Error('no such column'))
  await assert.rejects(world.upgradeWithMigration(two, { migrate }), /no such column/)
  // The earlier release, which knows no state file, runs meanwhile.
  await world.put('before')
  world.at(new Date(2026, 1, 1))
  await world.upgradeWithMigration({ ...two, version: '2.0.1' })
  assert.equal((await world.backups()).length, 1, 'the old backup is removed')
  assert.deepEqual((await world.plan()).to, one)
  assert.deepEqual((await world.state()).previous, one)
  await world.rollBack()
  await world.finish()
  assert.deepEqual(await world.content(), { keys: ['before'], hasTable: false })
})

test('three backups are kept, and the way back is the last', async () => {
  await using world = await openWorld((await import('../../test/dialects.ts')).openTestDatabase)
  for (let version = 1; version <= 6; version++) {
    world.at(new Date(2026, 0, version))
    await world.upgradeWithMigration({ ...one, version: `${version}.0.0` })
  }
  const versions = (await world.backups()).map((name) => name.split('-').at(-1))
  assert.deepEqual(versions, ['3.0.0', '4.0.0', '5.0.0'])
  assert.equal((await world.plan()).to.version, '5.0.0')
})

test('a rollback to a version that recorded no commit is not repeated', async () => {
  await using world = await openWorld((await import('../../test/dialects.ts')).openTestDatabase)
  await world.put('before')
  await world.upgradeWithMigration(two)
  assert.deepEqual((await world.plan()).to, { version: '0.1.0', commit: null, root: null })
  await world.rollBack()
  await world.finish()
  await assert.rejects(world.plan(), /no upgrade to go back from/)
})

test('a new version without migrations changes no data, and a rollback only the code', async () => {
  await using world = await openWorld((await import('../../test/dialects.ts')).openTestDatabase)
  await world.upgrade(one)
  await world.upgrade(two)
  const plan = await world.plan()
  assert.deepEqual([plan.to, plan.backup], [one, null])
  const three = { ...two, version: '3.0.0', commit: 'c'.repeat(40) }
  assert.deepEqual((await world.plan(null, three)).to, two, 'code that never opened the data')
  assert.equal(await world.rollBack(), null)
  await world.finish()
  await assert.rejects(world.plan(), /no upgrade to go back from/)
})

/** After the migration `9999-later`. */
const migrated = async (): Promise<MigrationState> => ({ applied: 11, expected: 11, first_pending: null })

type Step = 'copyTo' | 'verify' | 'replaceWith' | 'after replaceWith'

/** Copies that stop at a step, as a killed process does. */
function killedAt(copies: DatabaseCopies, step: Step): DatabaseCopies {
  const killed = async () => Promise.reject(new Error('killed'))
  if (step !== 'after replaceWith') return { ...copies, [step]: killed }
  return { ...copies, replaceWith: async (file) => copies.replaceWith(file).then(killed) }
}

async function openWorld(open: OpenTestDb) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-upgrades-'))
  const { url, ...first } = await open()
  await first.close()
  const copies = openDatabaseCopies(url, { path: process.env.PATH ?? '' })
  const key = { encryptionKey: null, dataDir: folder }
  openVault(key)
  let now = new Date('2026-01-01T00:00:00.000Z')
  const withDb = async <T>(work: (db: Awaited<ReturnType<typeof openDatabase>>) => Promise<T>) => {
    const db = await openDatabase(url, silentLog)
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  }
  const complete: MigrationState = { applied: 10, expected: 10, first_pending: null }
  const options = (code: Code): UpgradeData => ({
    ...{ key, copies, code, hasBackup: true, packaging: 'checkout' },
    now: () => now,
    state: async () => complete,
    migrate: async () => [],
    progress: () => {},
  })
  /** The code that last opened the data is checked out. */
  const present = async (): Promise<Code> => (await state()).code
  const state = async () => JSON.parse(await readFile(join(folder, 'upgrade-state.json'), 'utf8'))
  const migrate = () =>
    withDb(async (db) => {
      const { schema } = db.withTables()
      await schema.createTable('added_later').ifNotExists().addColumn('id', 'text').execute()
      return ['9999-later']
    })
  const upgradeWithMigration = (code: Code, over: Partial<UpgradeData> = {}) =>
    upgradeData({
      ...options(code),
      state: async () => ({ ...complete, first_pending: '9999-later' }),
      migrate,
      ...over,
    })
  return {
    copies,
    url,
    state,
    dataDir: folder,
    at(time: Date) {
      now = time
    },
    upgrade: (code: Code, over: Partial<UpgradeData> = {}) => upgradeData({ ...options(code), ...over }),
    upgradeWithMigration,
    /** As a version that did not store the number of migrations. */
    async forgetMigrations() {
      const { migrations: _, ...rest } = await state()
      await writeFile(join(folder, 'upgrade-state.json'), JSON.stringify(rest))
    },
    /** As a process that is killed after its last migration. */
    async upgradeAndKill(code: Code, over: Partial<UpgradeData> = {}) {
      const killed = async () => {
        await migrate()
        throw new Error('killed')
      }
      await assert.rejects(upgradeWithMigration(code, { ...over, migrate: killed }), /killed/)
    },
    plan: async (name: string | null = null, running?: Code) =>
      planRollback({ key, copies }, running ?? (await present()), name),
    async rollBack(name: string | null = null, on = copies) {
      const plan = await planRollback({ key, copies }, await present(), name)
      return rollBackData({ key, copies: on, plan, now, progress: () => {} })
    },
    /** As the command line does after changing the code. */
    finish: () => rm(join(folder, 'rollback.json')),
    backups: async () =>
      (await readdir(join(folder, 'upgrades')).catch(() => [])).filter((name) => name.startsWith('upgrade-')),
    put: (value: string) =>
      withDb(async (db) => {
        const row = { key: value, value, updated_at: '2026-01-01T00:00:00.000Z' }
        await db.withTables<Tables>().insertInto('settings').values(row).execute()
      }),
    content: () =>
      withDb(async (db) => {
        const tables = db.withTables<Tables>()
        const rows = await tables.selectFrom('settings').select('key').orderBy('key').execute()
        const later = tables.selectFrom('added_later').selectAll().execute()
        const hasTable = await later.then(
          () => true,
          () => false,
        )
        const keys = rows.map((row) => row.key).filter((name) => ['before', 'after'].includes(name))
        return { keys, hasTable }
      }),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true })
    },
  }
}
