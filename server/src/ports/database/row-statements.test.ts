import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachDialect } from '../../test/dialects.ts'
import type { Executor, RowStatement } from './port.ts'

type Line = { execution_id: string; n: number; line: string }
type Tables = { execution_lines: Line }

const statementOn = (on: Executor): RowStatement<Line, { n: number }> => ({
  name: 'lines.insert',
  rows: 3,
  make: (rows) =>
    on
      .withTables<Tables>()
      .insertInto('execution_lines')
      .values([...rows])
      .onConflict((conflict) => conflict.columns(['execution_id', 'n']).doNothing())
      .returning(['n']),
})
const lines = (from: number, to: number, text: string): Line[] =>
  Array.from({ length: to - from }, (_, index) => ({ execution_id: 'x', n: from + index, line: text }))

forEachDialect((_name, open) => {
  test('every row is written with its own values, in full and partial statements', async () => {
    await using db = await open()
    const insert = (on: Executor, rows: readonly Line[]) => on.manyRows(statementOn(on), rows)
    const first = await insert(db, lines(0, 8, 'first'))
    const second = await db.atomically((tx) => insert(tx, lines(5, 15, 'second')))
    assert.deepEqual(
      first.map(({ n }) => n),
      [0, 1, 2, 3, 4, 5, 6, 7],
    )
    assert.deepEqual(
      second.map(({ n }) => n),
      [8, 9, 10, 11, 12, 13, 14],
      'existing rows are not returned',
    )
    const rows = await db
      .withTables<Tables>()
      .selectFrom('execution_lines')
      .selectAll()
      .orderBy('n')
      .execute()
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [...lines(0, 8, 'first'), ...lines(8, 15, 'second')],
    )
  })

  test('a text is built once for each of a few row counts', async () => {
    await using db = await open()
    const made: number[] = []
    const counted = { ...statementOn(db) }
    counted.make = (rows) => {
      made.push(rows.length)
      return statementOn(db).make(rows)
    }
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [2, 5],
      [5, 9],
      [9, 14],
      [14, 16],
    ] as const) {
      assert.equal((await db.manyRows(counted, lines(from, to, `from ${from}`))).length, to - from)
    }
    assert.deepEqual(made, [1, 3, 2])
    const rows = await db
      .withTables<Tables>()
      .selectFrom('execution_lines')
      .select('line')
      .orderBy('n')
      .execute()
    assert.equal(rows.map(({ line }) => line.slice(5)).join(''), '012225555999991414')
  })

  test('without rows nothing is sent; a failed statement rolls the transaction back', async () => {
    await using db = await open()
    assert.deepEqual(await db.manyRows(statementOn(db), []), [])
    const broken = { ...lines(7, 8, '')[0], line: null } as unknown as Line
    await assert.rejects(db.atomically((tx) => tx.manyRows(statementOn(tx), [...lines(0, 7, 'a'), broken])))
    assert.deepEqual(await db.withTables<Tables>().selectFrom('execution_lines').selectAll().execute(), [])
  })
})
