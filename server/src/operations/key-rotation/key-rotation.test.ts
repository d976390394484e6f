import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import {
  asSealed,
  createVault,
  openVault,
  readKeyHistory,
  settleRotation,
  type Vault,
  VaultError,
} from '../../foundation/vault/index.ts'
import { type Secret, secret } from '../../kit/secret.ts'
import { openDatabase } from '../../ports/database/open.ts'
import type { Db } from '../../ports/database/port.ts'
import { byDialect } from '../../ports/database/schema-facts.ts'
import { silentLog } from '../../ports/log.ts'
import { createTestClock } from '../../test/clock.ts'
import { forEachDialect, type OpenTestDb } from '../../test/dialects.ts'
import { connectionName, opensSecrets, RotationError, rotateKey, sealedColumns } from './index.ts'

type Row = Record<string, string | number>
type Tables = Record<string, Row>
/** More than two batches in one table. */
const manyRows = 1_203
const canary = (table: string, column: string, index: number) => `canary ${table}.${column} ${index} Ünï 🦉`

forEachDialect((dialect, open) => {
  test('every sealed value opens with the new key only, and the key file changes with it', async () => {
    await using world = await openWorld(open)
    const { oldVault, oldKey } = world
    const count = await world.fill()
    const { result, values, unreadable } = await world.rotate()
    assert.deepEqual([result, values, unreadable], ['rotated', count + 1, []], 'and the retired key')
    const fresh = openVault(world.source)
    assert.notEqual(fresh.keyId, oldVault.keyId)
    assert.ok(!existsSync(join(world.dataDir, 'encryption.key.next')))
    await world.using(async (db) => {
      for (const column of sealedColumns) {
        const rows = await rowsOf(db, column.table)
        assert.ok(rows.length >= 3 || column.table === 'retired_keys', column.table)
        const plains: string[] = []
        for (const row of rows) {
          const sealed = asSealed(String(row[column.column]))
          const context = column.context(row as Record<string, string>)
          assert.throws(() => oldVault.open(sealed, context), VaultError)
          plains.push(fresh.open(sealed, context))
        }
        const { table, column: name } = column
        const expected = rows.map((_, index) =>
          table === 'retired_keys' ? oldKey.toString('hex') : canary(table, name, index),
        )
        assert.deepEqual(plains.toSorted(), expected.toSorted())
      }
    })
    // SQLite: neither replaced text nor the old key is in the files.
    if (dialect === 'sqlite') {
      const bytes = ['', '-wal']
        .map((end) => world.path() + end)
        .filter(existsSync)
        .map((path) => readFileSync(path, 'latin1'))
      const found = bytes.join('').match(/v1\.[A-Za-z0-9_-]{38,}/g) ?? []
      assert.ok(found.length > manyRows)
      for (const text of found)
        assert.ok(!world.sealedBefore.has(text), 'an old sealed text is still in the file')
    }
  })

  test('recovery codes, placeholders and bundles of before stay valid; tokens of turns for a day', async () => {
    await using world = await openWorld(open)
    const mac = world.oldVault.mac('text', 'use')
    const parts = world.oldVault.sealBytes(Buffer.from('bundle'), 'files')
    await world.rotate()
    const history = await world.using((db) => readKeyHistory(db, openVault(world.source), world.clock.now))
    const vault = openVault(world.source, history)
    assert.notEqual(vault.mac('text', 'use'), mac)
    assert.deepEqual(vault.earlierMacs('text', 'use'), [mac])
    assert.deepEqual(vault.earlierTurnMacs('text', 'use'), [mac])
    assert.equal(vault.retired(world.oldVault.keyId)?.openBytes(parts, 'files').toString(), 'bundle')
    assert.equal(vault.retired('another'), null)
    await world.clock.advance(24 * 3600 + 1)
    assert.deepEqual(vault.earlierTurnMacs('text', 'use'), [])
    assert.deepEqual(vault.earlierMacs('text', 'use'), [mac])
  })

  test('a second rotation keeps the first retired key; a leaked key ends the tokens of turns', async () => {
    await using world = await openWorld(open)
    const macs = [world.oldVault.mac('text', 'use')]
    await world.rotate()
    macs.unshift(openVault(world.source).mac('text', 'use'))
    await world.clock.advance(60)
    await world.rotate({ mayTurnsContinue: false })
    const history = await world.using((db) => readKeyHistory(db, openVault(world.source), world.clock.now))
    const vault = openVault(world.source, history)
    assert.deepEqual(vault.earlierMacs('text', 'use'), macs)
    assert.deepEqual(vault.earlierTurnMacs('text', 'use'), [])
  })

  test('a value that does not open is named and stops the rotation, unless it may stay as it is', async () => {
    await using world = await openWorld(open)
    const count = await world.fill()
    const [broken, kept] = ['v1.broken', await world.snapshot()]
    await world.using((db) =>
      db
        .withTables<Tables>()
        .updateTable('git_tokens')
        .set({ sealed: broken })
        .where('user_id', '=', 'git_tokens-1')
        .execute(),
    )
    const before = await world.snapshot()
    assert.notDeepEqual(before, kept)
    await assert.rejects(world.rotate(), (error) => {
      assert.ok(error instanceof RotationError)
      assert.match(error.message, /1 values do not open[\s\S]*git_tokens\.sealed of user_id git_tokens-1\n/)
      return true
    })
    assert.deepEqual(await world.snapshot(), before, 'nothing was changed')
    assert.equal(openVault(world.source).keyId, world.oldVault.keyId)
    const { values, unreadable } = await world.rotate({ mayKeepUnreadable: true })
    assert.deepEqual([values, unreadable], [count, ['git_tokens.sealed of user_id git_tokens-1']])
    assert.ok((await world.snapshot()).includes(broken))
  })

  test('killed before the commit the old key stays, killed after it the next start takes the new one', async () => {
    await using world = await openWorld(open)
    await world.fill()
    const before = await world.snapshot()
    const columns = [...sealedColumns, { table: 'none', column: 'sealed', key: ['id'], context: () => '' }]
    await assert.rejects(world.rotate({ columns }))
    const [path, next] = [join(world.dataDir, 'encryption.key'), join(world.dataDir, 'encryption.key.next')]
    assert.ok(existsSync(next), 'the new key of the rotation that did not commit')
    assert.equal(await world.using((db) => settleRotation(db, world.source)), false)
    assert.equal(openVault(world.source).keyId, world.oldVault.keyId)
    assert.deepEqual(await world.snapshot(), before)

    const old = readFileSync(path, 'utf8')
    await world.rotate()
    // The state between the commit and the change of the file.
    const fresh = readFileSync(path, 'utf8')
    writeFileSync(next, fresh, { mode: 0o600 })
    writeFileSync(path, old, { mode: 0o600 })
    const { result } = await world.rotate()
    assert.equal(result, 'completed', 'a repeated command completes it, too')
    writeFileSync(next, fresh, { mode: 0o600 })
    writeFileSync(path, old, { mode: 0o600 })
    assert.equal(await world.using((db) => settleRotation(db, world.source)), true)
    assert.deepEqual([readFileSync(path, 'utf8'), existsSync(next)], [fresh, false])
    writeFileSync(path, old, { mode: 0o600 })
    await assert.rejects(
      world.using((db) => settleRotation(db, world.source)),
      /encryption\.key is a key that was rotated at .*Set the new key/,
    )
  })

  test('a key of the environment needs a new one there, and the retired one is refused afterwards', async () => {
    await using world = await openWorld(open)
    await world.fill()
    const [before, after] = [hex(), hex()]
    const source = (key: Secret) => ({ encryptionKey: key, dataDir: world.dataDir })
    await world.rotate({ source: world.source, newKey: before })
    await assert.rejects(world.rotate({ source: source(before) }), /ROOST_NEW_ENCRYPTION_KEY to the new key/)
    await assert.rejects(world.rotate({ source: source(before), newKey: before }), /in use already/)
    await assert.rejects(world.rotate({ source: source(before), newKey: secret('abc') }), /32 bytes in hex/)
    await world.rotate({ source: source(before), newKey: after })
    await assert.rejects(
      world.using((db) => settleRotation(db, source(before))),
      /ROOST_ENCRYPTION_KEY is a key that was rotated/,
    )
    assert.equal(await world.using((db) => settleRotation(db, source(after))), false)
    const [row] = await world.using((db) => rowsOf(db, 'git_tokens'))
    const vault = createVault(Buffer.from(after.reveal(), 'hex'))
    assert.ok(vault.open(asSealed(String(row?.sealed)), `git-token:${row?.user_id}`))
  })

  test('a key that opens one of the stored secrets is theirs, and any key is that of an empty database', async () => {
    await using world = await openWorld(open)
    const other = createVault(randomBytes(32))
    const opens = (vault: Vault) => world.using((db) => opensSecrets(db, vault, sealedColumns))
    assert.equal(await opens(other), true)
    await world.fill()
    assert.deepEqual([await opens(world.oldVault), await opens(other)], [true, false])
  })

  test('refused while a platform uses the database', async () => {
    await using world = await openWorld(open)
    const lease = { name: 'sweep', holder: 'api', token: 1, expires_at: '2999-01-01T00:00:00.000Z' }
    await world.using((db) => db.withTables<Tables>().insertInto('leases').values(lease).execute())
    await assert.rejects(world.rotate(), /The database is in use: a platform, until 2999-01-01/)
    await world.using((db) => db.withTables<Tables>().deleteFrom('leases').execute())
    if (dialect === 'postgres') {
      const other = await openDatabase(world.url, silentLog)
      await other.ping()
      await assert.rejects(world.rotate(), /1 other connections of the same database user \(roost\)/)
      await other.close()
    }
    await world.rotate()
  })

  test('the rotation knows the primary key and the columns of each table', async () => {
    await using world = await openWorld(open)
    await world.using(async (db) => {
      const facts = byDialect(db)
      for (const { table, column, key, reads = [] } of sealedColumns) {
        const columns = await facts.columns(db, table)
        const inKey = columns.filter((each) => each.inKey).map(({ name }) => name)
        assert.deepEqual(inKey, [...key].toSorted(), table)
        for (const name of [column, ...reads])
          assert.ok(
            columns.some((each) => each.name === name),
            name,
          )
      }
      const known = new Set(sealedColumns.map(({ table, column }) => `${table}.${column}`))
      for (const table of await facts.tables(db))
        for (const { name } of await facts.columns(db, table))
          if (/sealed/.test(name)) assert.ok(known.has(`${table}.${name}`), `${table}.${name} is not rotated`)
    })
  })
})

test('every column that the code declares as sealed is rotated', () => {
  const root = join(import.meta.dirname, '../..')
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !/(^|\/)test\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
  const rotated = new Set(sealedColumns.map(({ column }) => column))
  // Fields of types; parameters and results of functions hold what was read from such a column.
  const declared = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/([a-z_]+)\??: SealedText( \| null)?(;|\n| \})/g)].map(([, name = '']) => ({
      path,
      name,
    })),
  )
  const unknown = declared.filter(
    ({ name, path }) => !rotated.has(name) && !path.startsWith('operations/key-rotation/'),
  )
  assert.deepEqual(unknown, [])
  assert.ok(declared.length >= sealedColumns.length, `${declared.length} declarations were found`)
  // Without these a column could be read as plain text, unknown to the rotation.
  const casts = sources.filter(({ text }) => /\basSealed\(|as SealedText/.test(text)).map(({ path }) => path)
  assert.deepEqual(casts.toSorted(), [
    'agents/git/transfer.ts',
    'foundation/vault/passphrase.ts',
    'foundation/vault/service.ts',
    'identity/sessions/signing-key.ts',
    'operations/key-rotation/store.ts',
  ])
})

const hex = () => secret(randomBytes(32).toString('hex'))

async function openWorld(open: OpenTestDb) {
  const made = await open()
  const { url } = made
  await made.close()
  const dataDir = mkdtempSync(join(tmpdir(), 'roost-rotate-'))
  const source = { encryptionKey: null, dataDir }
  const oldVault = openVault(source)
  const oldKey = Buffer.from(readFileSync(join(dataDir, 'encryption.key'), 'utf8').trim(), 'hex')
  const clock = createTestClock()
  const sealedBefore = new Set<string>()
  const using = async <T>(work: (db: Db) => Promise<T>): Promise<T> => {
    const named = new URL(url)
    if (!url.startsWith('sqlite:')) named.searchParams.set('application_name', connectionName)
    const db = await openDatabase(url.startsWith('sqlite:') ? url : named.href, silentLog)
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  }
  return {
    url,
    dataDir,
    source,
    oldVault,
    oldKey,
    clock,
    sealedBefore,
    using,
    path: () => url.slice('sqlite:'.length),
    rotate: (over: Partial<Parameters<typeof rotateKey>[0]> = {}) =>
      using((db) =>
        rotateKey({
          ...{ db, clock, source, newKey: null, columns: sealedColumns, progress: () => {} },
          ...{ mayTurnsContinue: true, mayKeepUnreadable: false, ...over },
        }),
      ),
    fill: () => using((db) => fill(db, oldVault, sealedBefore)),
    /** All sealed texts, in a fixed order. */
    snapshot: () =>
      using(async (db) => {
        const all: string[] = []
        for (const { table, column } of sealedColumns)
          for (const row of await rowsOf(db, table)) all.push(String(row[column]))
        return all.toSorted()
      }),
    async [Symbol.asyncDispose]() {
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function rowsOf(db: Db, table: string): Promise<Row[]> {
  return db.withTables<Tables>().selectFrom(table).selectAll().execute()
}

type Column = { name: string; type: string; required: boolean }

/** Rows in every table with sealed columns; returns the count of sealed values. Foreign keys are switched off. */
async function fill(db: Db, vault: Vault, sealedBefore: Set<string>): Promise<number> {
  const tables = new Set(sealedColumns.map(({ table }) => table).filter((table) => table !== 'retired_keys'))
  let count = 0
  if (db.dialect === 'sqlite') await sql`pragma foreign_keys = off`.execute(db.withTables())
  await db.atomically(async (tx) => {
    if (db.dialect === 'postgres') await byDialect(db).suspendForeignKeys(tx)
    for (const table of tables) {
      const columns = await columnsOf(db, tx, table)
      const sealed = sealedColumns.filter((each) => each.table === table)
      const rows = Array.from({ length: table === 'paid_proofs' ? manyRows : 3 }, (_, index) => {
        const row: Row = {}
        for (const { name, type, required } of columns)
          if (required) row[name] = /int|numeric|real|double/i.test(type) ? index + 1 : `${table}-${index}`
        for (const { key, reads = [] } of sealed)
          for (const name of [...key, ...reads]) row[name] ??= `${table}-${index}`
        for (const { column, context } of sealed) {
          const text = vault.seal(canary(table, column, index), context(row as Record<string, string>))
          sealedBefore.add(text)
          row[column] = text
          count += 1
        }
        return row
      })
      await tx.withTables<Tables>().deleteFrom(table).execute()
      await tx.withTables<Tables>().insertInto(table).values(rows).execute()
    }
  })
  return count
}

async function columnsOf(db: Db, on: Pick<Db, 'withTables'>, table: string): Promise<Column[]> {
  const query =
    db.dialect === 'sqlite'
      ? sql<Column>`select name, type, ("notnull" = 1 and dflt_value is null) or pk > 0 as required
          from pragma_table_info(${table})`
      : sql<Column>`select column_name as name, data_type as type,
          is_nullable = 'NO' and column_default is null and is_identity = 'NO' as required
          from information_schema.columns where table_schema = current_schema() and table_name = ${table}`
  return (await query.execute(on.withTables())).rows.map((each) => ({
    ...each,
    required: Boolean(each.required),
  }))
}
