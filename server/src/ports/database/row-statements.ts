import { type Compilable, CompiledQuery, type QueryResult } from 'kysely'

/** A statement that takes the values of its rows, in the order of their columns, and nothing else. */
export type RowStatement<Row, Result> = {
  /** Says which statement it is; one name for one text, but for the columns and the number of rows. */
  name: string
  /** Rows of a whole statement. What is left goes by halves of it, so that few texts come again and are prepared. */
  rows: number
  make(rows: readonly Row[]): Compilable<Result>
}

/** Sends all of the rows at once; answers what their statements returned, in order. */
export type RunRows = <Row extends object, Result>(
  statement: RowStatement<Row, Result>,
  rows: readonly Row[],
) => Promise<Result[]>

type Run = (query: CompiledQuery<never>) => Promise<QueryResult<unknown>>

/** A text of so many values is tens of kilobytes; there are few shapes of rows, and few numbers of them. */
const keptTexts = 150

/**
 * Statements about many rows. Building one by the query builder costs more than what the database does with it,
 * and what it builds of is garbage by the megabyte: a text is built once for each shape of its rows and each of the few
 * numbers of them.
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
    const made = make(rows).compile()
    if (texts.size < keptTexts) texts.set(key, made.sql)
    return made as CompiledQuery<never>
  }

  return (run) =>
    async <Row extends object, Result>(statement: RowStatement<Row, Result>, rows: readonly Row[]) => {
      const sent: Promise<QueryResult<unknown>>[] = []
      let size = statement.rows
      for (let from = 0; from < rows.length; from += size) {
        while (size > rows.length - from) size = Math.ceil(size / 2)
        sent.push(run(compile(statement, rows.slice(from, from + size))))
      }
      // What the statement returns is what its builder says.
      return (await Promise.all(sent)).flatMap((result) => result.rows) as Result[]
    }
}

function valuesOf<Row extends object>(rows: readonly Row[], columns: readonly string[]): unknown[] {
  const values: unknown[] = []
  for (const row of rows) {
    for (const column of columns) values.push((row as Record<string, unknown>)[column])
  }
  return values
}
