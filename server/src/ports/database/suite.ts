import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { OpenTestDb, TestDb } from '../../test/dialects.ts'
import type { Db, Executor } from './port.ts'

type Tables = { birds: { id: string; weight: number; born_at: string | null } }

/** Tests for every database. */
export function databaseSuite(dialect: Db['dialect'], openEmpty: OpenTestDb): void {
  const open = async () => {
    const db = await openEmpty({ migrated: false })
    await db
      .withTables()
      .schema.createTable('birds')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('weight', 'integer', (column) => column.notNull())
      .addColumn('born_at', 'text')
      .execute()
    return db
  }

  test('answers a ping and reports its dialect', async () => {
    await using db = await open()
    await db.ping()
    assert.equal(db.dialect, dialect)
  })

  test('closes whether used or not, and refuses queries afterwards', async () => {
    await using db = await open()
    const unused = await db.openAgain()
    await unused.close()
    await assert.rejects(unused.ping())
    const used = await db.openAgain()
    await used.ping()
    await used.close()
    await assert.rejects(used.ping())
  })

  test('numbers are returned as numbers: 53-bit integers, counts and sums', async () => {
    await using db = await open()
    await add(db, 'heron', Number.MAX_SAFE_INTEGER - 1)
    await add(db, 'wren', 1)
    const row = await db
      .withTables<Tables>()
      .selectFrom('birds')
      .select((of) => [of.fn.max<number>('weight').as('most'), of.fn.sum<number>('weight').as('sum')])
      .select((of) => of.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    assert.deepEqual(
      { ...row },
      { most: Number.MAX_SAFE_INTEGER - 1, sum: Number.MAX_SAFE_INTEGER, count: 2 },
    )
  })

  test('a snapshot reads one consistent state during concurrent writes', async () => {
    await using db = await open()
    await using elsewhere = await db.openAgain()
    let writing: Promise<void> | undefined
    const counts = await db.snapshot(async (on) => {
      const before = await on.withTables<Tables>().selectFrom('birds').select('id').execute()
      writing = add(elsewhere, 'wren', 1)
      // PostgreSQL writes now; SQLite waits for the end of the snapshot.
      if (db.dialect === 'postgres') await writing
      const after = await on.withTables<Tables>().selectFrom('birds').select('id').execute()
      return [before.length, after.length]
    })
    await writing
    assert.deepEqual(counts, [0, 0])
    assert.deepEqual(await ids(db), ['wren'])
    await assert.rejects(
      db.snapshot(async () => ids(db)),
      /Inside atomically/,
    )
  })

  test('text is ordered by bytes', async () => {
    await using db = await open()
    for (const id of ['a', 'B', '_', 'Z', '-', 'é']) await add(db, id, 1)
    assert.deepEqual(await ids(db), ['-', 'B', 'Z', '_', 'a', 'é'])
  })

  test('an update returns the number of changed rows', async () => {
    await using db = await open()
    await add(db, 'wren', 1)
    const [won, lost] = await Promise.all([1, 1].map((from) => move(db, 'wren', from, 2)))
    assert.deepEqual([won, lost].toSorted(), [0n, 1n])
  })

  test('a transaction is committed completely or not at all', async () => {
    await using db = await open()
    await db.atomically(async (tx) => {
      await add(tx, 'wren', 1)
      await add(tx, 'tit', 1)
    })
    await assert.rejects(
      db.atomically(async (tx) => {
        await add(tx, 'rook', 1)
        throw new Error('changed my mind')
      }),
      /changed my mind/,
    )
    assert.deepEqual(await ids(db), ['tit', 'wren'])
  })

  test('a transaction sees its own writes, others see them after the commit', async () => {
    await using db = await open()
    const [inside, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const done = db.atomically(async (tx) => {
      await add(tx, 'wren', 1)
      assert.deepEqual(await ids(tx), ['wren'])
      inside.resolve()
      await proceed.promise
    })
    await inside.promise
    assert.deepEqual(await ids(db), [])
    proceed.resolve()
    await done
    assert.deepEqual(await ids(db), ['wren'])
  })

  test('callbacks run after the commit, in order, and not after a rollback', async () => {
    await using db = await open()
    const acts: string[] = []
    await db.atomically(async (tx) => {
      tx.onCommitted(() => acts.push('first'))
      tx.onCommitted(() => {
        throw new Error('an act that fails')
      })
      tx.onCommitted(() => acts.push('second'))
      await add(tx, 'wren', 1)
      assert.deepEqual(acts, [])
    })
    await db
      .atomically(async (tx) => {
        tx.onCommitted(() => acts.push('never'))
        throw new Error('rolled back')
      })
      .catch(() => {})
    assert.deepEqual(acts, ['first', 'second'])
  })

  test('an unawaited statement is committed with the rest, and its failure rolls everything back', async () => {
    await using db = await open()
    const acts: string[] = []
    const both = (first: string, second: string) =>
      db.atomically(async (tx) => {
        const birds = tx.withTables<Tables>()
        tx.alongside(birds.insertInto('birds').values({ id: first, weight: 1, born_at: null }).execute())
        tx.alongside(birds.insertInto('birds').values({ id: second, weight: 1, born_at: null }).execute())
        tx.onCommitted(() => acts.push(first))
      })
    await both('heron', 'wren')
    await assert.rejects(both('robin', 'wren'), /unique/i)
    assert.deepEqual(await ids(db), ['heron', 'wren'])
    assert.deepEqual(acts, ['heron'])
    await both('robin', 'tit')
    assert.equal((await ids(db)).length, 4)
  })

  test('a column added by another process does not break prepared statements', async () => {
    await using db = await open()
    await add(db, 'wren', 1)
    const whole = (on: Executor) =>
      on.withTables<Tables>().selectFrom('birds').selectAll().where('id', '=', 'wren').execute()
    for (let time = 0; time < 5; time += 1) {
      await Promise.all(Array.from({ length: 5 }, () => whole(db)))
      await db.atomically((tx) => whole(tx))
    }
    await using elsewhere = await db.openAgain()
    await elsewhere.withTables().schema.alterTable('birds').addColumn('song', 'text').execute()
    for (let time = 0; time < 5; time += 1) {
      const rows = [...(await whole(db)), ...(await db.atomically((tx) => whole(tx)))]
      assert.deepEqual(
        rows.map(({ weight }) => weight),
        [1, 1],
      )
    }
  })

  test('using the database itself inside a transaction throws, because it would wait forever', async () => {
    await using db = await open()
    const refused = /only the transaction has a database/
    await db.atomically(async (tx) => {
      await assert.rejects(ids(db), refused)
      await assert.rejects(add(db, 'wren', 1), refused)
      await assert.rejects(
        db.atomically(async () => {}),
        refused,
      )
      await add(tx, 'tit', 1)
    })
    assert.deepEqual(await ids(db), ['tit'])
  })

  test('work left over from a transaction may use the database afterwards', async () => {
    await using db = await open()
    const committed = Promise.withResolvers<void>()
    const later = await db.atomically(async (tx) => {
      await add(tx, 'wren', 1)
      return { found: committed.promise.then(() => ids(db)) }
    })
    committed.resolve()
    assert.deepEqual(await later.found, ['wren'])
  })

  test('two hundred writes of two processes lose nothing', async () => {
    await using db = await open()
    await using other = await db.openAgain()
    await add(db, 'wren', 0)
    const add1 = (on: Db) =>
      on.atomically(async (tx) => {
        const grown = sql<number>`weight + 1`
        await tx.withTables<Tables>().updateTable('birds').set({ weight: grown }).execute()
      })
    // Slightly more than the connections, because waiting too long for one fails.
    const four = async (on: Db) => {
      for (let count = 0; count < 4; count += 1) await add1(on)
    }
    await Promise.all(Array.from({ length: 50 }, (_, index) => four(index % 2 ? db : other)))
    const row = await db.withTables<Tables>().selectFrom('birds').select('weight').executeTakeFirstOrThrow()
    assert.equal(row.weight, 200)
  })

  test('of twenty concurrent claims of one row one succeeds', async () => {
    await using db = await open()
    await using other = await db.openAgain()
    await add(db, 'wren', 0)
    const claimed = await Promise.all(
      Array.from({ length: 20 }, (_, index) => move(index % 2 ? db : other, 'wren', 0, index + 1)),
    )
    assert.equal(claimed.filter((count) => count === 1n).length, 1)
  })

  test('limit and offset of a list are respected', async () => {
    await using db = await open()
    for (const id of ['a', 'b', 'c', 'd']) await add(db, id, 1)
    const rows = await db
      .withTables<Tables>()
      .selectFrom('birds')
      .select('id')
      .orderBy('id')
      .limit(2)
      .offset(1)
      .execute()
    assert.deepEqual(
      rows.map(({ id }) => id),
      ['b', 'c'],
    )
  })

  test('an upsert replaces an existing row', async () => {
    await using db = await open()
    const upsert = (weight: number) =>
      db
        .withTables<Tables>()
        .insertInto('birds')
        .values({ id: 'wren', weight, born_at: null })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ weight }))
        .returning('weight')
        .executeTakeFirstOrThrow()
    assert.equal((await upsert(1)).weight, 1)
    assert.equal((await upsert(2)).weight, 2)
  })
}

async function add(on: Executor | TestDb, id: string, weight: number): Promise<void> {
  await on.withTables<Tables>().insertInto('birds').values({ id, weight, born_at: null }).execute()
}

async function move(on: Executor, id: string, from: number, to: number): Promise<bigint> {
  const result = await on
    .withTables<Tables>()
    .updateTable('birds')
    .set({ weight: to })
    .where('id', '=', id)
    .where('weight', '=', from)
    .executeTakeFirst()
  return result.numUpdatedRows
}

async function ids(on: Executor): Promise<string[]> {
  const rows = await on.withTables<Tables>().selectFrom('birds').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}
