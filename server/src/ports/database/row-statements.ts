import { type Compilable, CompiledQuery, type QueryResult } from 'kysely'

/** A statement whose parameters are the values of its rows, in the order of their columns. */
export type RowStatement<Row, Result> = {
  /** Identifies the statement's text, apart from its columns and number of rows. */
  name: string
  /** Rows of a full statement. The rest is split in halves, so that few texts occur and can be prepared. */
  rows: number
  make(rows: readonly Row[]): Compilable<Result>
}

/** Sends all rows concurrently and returns the statements' results in order. */
export type RunRows = <Row extends object, Result>(
  statement: RowStatement<Row, Result>,
  rows: readonly Row[],
) => Promise<Result[]>

type Run = (query: CompiledQuery<never>) => Promise<QueryResult<unknown>>

/** A text with that many values has tens of kilobytes; row shapes and row counts are few. */
const maxTexts = 150

/**
 * Runs statements about many rows. The query builder would cost more than the database and create megabytes
 * of garbage. Each text is therefore built once per row shape and row count.
 */
export function createRowStatements(): (run: Run) => RunRows {
  const texts = new Map<string, string>()

  function compile<Row extends object, Result>(
    { name, make }: RowStatement<Row, Result>,
    rows: readonly Row[],
  ): CompiledQuery<never> {
    const columns = Object.keys(rows[0] ?? {})
    const key = `${name} ${rows.length} ${columns.join()}`
    const known = texts.get(key)
    if (known !== undefined) return CompiledQuery.raw(known, valuesOf(rows, columns)) as CompiledQuery<never>
    const compiled = make(rows).compile()
    if (texts.size < maxTexts) texts.set(key, compiled.sql)
    return compiled as CompiledQuery<never>
  }

  return (run) =>
    async <Row extends object, Result>(statement: RowStatement<Row, Result>, rows: readonly Row[]) => {
      const pending: Promise<QueryResult<unknown>>[] = []
      let size = statement.rows
      for (let from = 0; from < rows.length; from += size) {
        while (size > rows.length - from) size = Math.ceil(size / 2)
        pending.push(run(compile(statement, rows.slice(from, from + size))))
      }
      // The builder determines the result type.
      return (await Promise.all(pending)).flatMap((result) => result.rows) as Result[]
    }
}

function valuesOf<Row extends object>(rows: readonly Row[], columns: readonly string[]): unknown[] {
  const values: unknown[] = []
  for (const row of rows) {
    for (const column of columns) values.push((row as Record<string, unknown>)[column])
  }
  return values
}
