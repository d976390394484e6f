import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrations } from '../../migrations/index.ts'
import { forEachDialect } from '../../test/dialects.ts'
import { migrate, migrationState } from './migrator.ts'
import { ChangedMigrationError, type Migration, NewerSchemaError } from './port.ts'

const now = () => new Date('2026-01-01T00:00:00.000Z')
const nest: Migration = {
  name: '0001-nest',
  up: (db) => db.schema.createTable('nest').addColumn('id', 'text').execute(),
}
const egg: Migration = {
  name: '0002-egg',
  up: (db) => db.schema.createTable('egg').addColumn('id', 'text').execute(),
}

forEachDialect((_dialect, open) => {
  test('migrates an empty database, and does nothing the second time', async () => {
    await using db = await open({ migrated: false })
    const all = migrations.map(({ name }) => name).toSorted()
    assert.deepEqual(await migrationState(db, migrations), {
      applied: 0,
      expected: all.length,
      first_pending: all[0],
    })
    assert.deepEqual(await migrate(db, migrations, { now }), all)
    assert.deepEqual(await migrate(db, migrations, { now }), [])
    const state = await migrationState(db, migrations)
    assert.deepEqual(state, { applied: all.length, expected: all.length, first_pending: null })
  })

  test('applies migrations in the order of names and reports progress', async () => {
    await using db = await open({ migrated: false })
    const reported: string[] = []
    const applied = await migrate(db, [egg, nest], { now, progress: (text) => reported.push(text) })
    assert.deepEqual(applied, ['0001-nest', '0002-egg'])
    assert.deepEqual(reported, ['applying migration 0001-nest', 'applying migration 0002-egg'])
  })

  test('twenty concurrent starts apply each migration once', async () => {
    await using db = await open({ migrated: false })
    const starters = await Promise.all(Array.from({ length: 20 }, () => db.openAgain()))
    const applied = await Promise.all(starters.map((starter) => migrate(starter, [nest, egg], { now })))
    assert.deepEqual(applied.flat().toSorted(), ['0001-nest', '0002-egg'])
    await Promise.all(starters.map((starter) => starter.close()))
  })

  test('a migration that was changed or renamed after it had been applied is refused by name', async () => {
    await using db = await open({ migrated: false })
    const first = { ...nest, checksum: 'a' }
    await migrate(db, [first], { now })
    const changed = [{ ...nest, checksum: 'b' }, egg]
    await assert.rejects(migrate(db, changed, { now }), (error) => {
      assert.ok(error instanceof ChangedMigrationError)
      assert.match(error.message, /migration 0001-nest was changed/)
      return true
    })
    const renamed = [{ ...first, name: '0003-nest' }, egg]
    await assert.rejects(migrate(db, renamed, { now }), /0001-nest was renamed to 0003-nest/)
    assert.deepEqual(await migrationState(db, [first, egg]), {
      applied: 1,
      expected: 2,
      first_pending: '0002-egg',
    })
    assert.deepEqual(await migrate(db, [first, egg], { now }), ['0002-egg'])
  })

  test('a checksum is recorded for migrations that were applied without one', async () => {
    await using db = await open({ migrated: false })
    await migrate(db, [nest], { now })
    await migrate(db, [{ ...nest, checksum: 'a' }], { now })
    await assert.rejects(migrate(db, [{ ...nest, checksum: 'b' }], { now }), ChangedMigrationError)
  })

  test('a failed migration leaves nothing behind and is repeated at the next start', async () => {
    await using db = await open({ migrated: false })
    const broken: Migration = {
      name: '0002-egg',
      async up(kysely, schema) {
        await egg.up(kysely, schema)
        throw new Error('out of disk')
      },
    }
    await assert.rejects(migrate(db, [nest, broken], { now }), /out of disk/)
    assert.deepEqual(await migrationState(db, [nest, egg]), {
      applied: 1,
      expected: 2,
      first_pending: '0002-egg',
    })
    assert.deepEqual(await migrate(db, [nest, egg], { now }), ['0002-egg'])
  })

  test('refuses a database of a newer version without changes', async () => {
    await using db = await open({ migrated: false })
    await migrate(db, [nest, egg], { now })
    await assert.rejects(migrate(db, [nest], { now }), (error) => {
      assert.ok(error instanceof NewerSchemaError)
      assert.deepEqual(error.unknown, ['0002-egg'])
      return true
    })
    await assert.rejects(migrationState(db, [nest]), NewerSchemaError)
  })
})

test('two migrations with the same name are an error', async (t) => {
  t.diagnostic('found before any request to the database')
  const never = { dialect: 'sqlite' } as never
  await assert.rejects(migrationState(never, [nest, nest]), /Two migrations are named 0001-nest/)
})
