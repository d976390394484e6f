import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import type { Executor, Tx } from './port.ts'

type Tables = { birds: { id: string; weight: number } }

forEachDialect((_, open) => {
  async function openBirds() {
    const db = await open({ migrated: false })
    await db
      .withTables()
      .schema.createTable('birds')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('weight', 'integer', (column) => column.notNull())
      .execute()
    return db
  }

  test('concurrent transactions are committed together, and each gets its own result', async () => {
    await using db = await openBirds()
    const transactions = new Set<Tx['withTables']>()
    const answers = await Promise.all(
      numbers(20).map((number) =>
        db.atomicallyShared({ kind: 'add', about: `bird ${number}` }, async (tx) => {
          transactions.add(tx.withTables)
          await add(tx, `bird ${number}`, number)
          return number
        }),
      ),
    )
    assert.deepEqual(answers, numbers(20))
    assert.equal((await ids(db)).length, 20)
    assert.ok(transactions.size < 20, `${transactions.size} transactions`)
  })

  test('a failing member is rolled back alone; the others commit and run their callbacks', async () => {
    await using db = await openBirds()
    await add(db, 'bird 3', 0)
    const acts: number[] = []
    const answers = await Promise.allSettled(
      numbers(8).map((number) =>
        db.atomicallyShared({ kind: 'add', about: `bird ${number}` }, async (tx) => {
          tx.onCommitted(() => acts.push(number))
          if (number === 5) tx.alongside(add(tx, 'bird 3', 0))
          await add(tx, `bird ${number}`, number)
          if (number === 6) throw new Error('Aborted on purpose.')
        }),
      ),
    )
    const failed = answers.flatMap(({ status }, number) => (status === 'rejected' ? [number] : []))
    assert.deepEqual(failed, [3, 5, 6])
    assert.deepEqual(acts.toSorted(), [0, 1, 2, 4, 7])
    const stored = await ids(db)
    assert.deepEqual(stored, ['bird 0', 'bird 1', 'bird 2', 'bird 3', 'bird 4', 'bird 7'])
  })

  test('one that fails during the work of others is undone alone', async () => {
    await using db = await openBirds()
    const last = Promise.withResolvers<void>()
    const late = new Error('Too late.')
    let isLate = false
    const answers = await Promise.allSettled(
      numbers(4).map((number) =>
        db.atomicallyShared(
          {
            kind: 'add',
            about: `bird ${number}`,
            lastly() {
              if (number === 0 && isLate) throw late
            },
          },
          async (tx) => {
            await add(tx, `bird ${number}`, number)
            if (number === 0) return last.resolve()
            await last.promise
            isLate = true
          },
        ),
      ),
    )
    assert.deepEqual(answers[0], { status: 'rejected', reason: late })
    assert.deepEqual(await ids(db), ['bird 1', 'bird 2', 'bird 3'])
  })

  test('work about the same thing runs in call order', async () => {
    await using db = await openBirds()
    await add(db, 'heron', 0)
    let inside = 0
    const order: number[] = []
    await Promise.all(
      numbers(20).map((number) =>
        db.atomicallyShared(
          { kind: 'weigh', about: number % 2 === 0 ? 'heron' : `bird ${number}` },
          async (tx) => {
            if (number % 2 !== 0) return add(tx, `bird ${number}`, number)
            inside += 1
            assert.equal(inside, 1)
            order.push(number)
            const weight = await weightOf(tx, 'heron')
            await setWeight(tx, 'heron', weight + 1)
            inside -= 1
          },
        ),
      ),
    )
    assert.equal(await weightOf(db, 'heron'), 10)
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    )
  })

  test('in its turn a member sees the changes of earlier members', async () => {
    await using db = await openBirds()
    await add(db, 'heron', 0)
    await Promise.all(
      numbers(10).map((number) =>
        db.atomicallyShared({ kind: 'count', about: String(number) }, (tx) =>
          tx.inTurn(async () => {
            const weight = await weightOf(tx, 'heron')
            // A nested turn does not wait for itself.
            await tx.inTurn(() => setWeight(tx, 'heron', weight + 1))
          }),
        ),
      ),
    )
    assert.equal(await weightOf(db, 'heron'), 10)
  })
})

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

async function add(on: Executor, id: string, weight: number): Promise<void> {
  await on.withTables<Tables>().insertInto('birds').values({ id, weight }).execute()
}

async function setWeight(on: Executor, id: string, weight: number): Promise<void> {
  await on.withTables<Tables>().updateTable('birds').set({ weight }).where('id', '=', id).execute()
}

async function weightOf(on: Executor, id: string): Promise<number> {
  const birds = on.withTables<Tables>().selectFrom('birds')
  return (await birds.select('weight').where('id', '=', id).executeTakeFirstOrThrow()).weight
}

async function ids(on: Executor): Promise<string[]> {
  const rows = await on.withTables<Tables>().selectFrom('birds').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}
