import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'
import { namedFault } from './down.ts'

/** One connection whose prepared statements are kept. */
export type Statements = {
  /** Throws `DatabaseFull` when the disk is full; so does `exec`. */
  run(query: CompiledQuery): QueryResult<never>
  exec(sql: string): void
  isTransaction(): boolean
  close(): void
}

/** Texts of queries are few; those with lists of changing length must not fill the memory. */
const keptStatements = 500

export function openStatements(file: DatabaseSync): Statements {
  const kept = new Map<string, { statement: StatementSync; returnsRows: boolean }>()

  const prepare = (sql: string) => {
    const found = kept.get(sql)
    if (found) {
      // Moved to the end: the first of the map is the one that was not used for the longest time.
      kept.delete(sql)
      kept.set(sql, found)
      return found
    }
    const statement = file.prepare(sql)
    const made = { statement, returnsRows: statement.columns().length > 0 }
    kept.set(sql, made)
    const [oldest] = kept.keys()
    if (kept.size > keptStatements && oldest !== undefined) kept.delete(oldest)
    return made
  }

  const run = ({ sql, parameters }: CompiledQuery): QueryResult<never> => {
    const { statement, returnsRows } = prepare(sql)
    // The stores bind text, numbers and null only; anything else is refused by the driver.
    const values = parameters as SQLInputValue[]
    if (returnsRows) return { rows: statement.all(...values) as never[] }
    const { changes, lastInsertRowid } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  return {
    run: (query) => named(() => run(query)),
    exec: (sql) => named(() => file.exec(sql)),
    isTransaction: () => file.isTransaction,
    close() {
      kept.clear()
      if (file.isOpen) file.close()
    },
  }
}

function named<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw namedFault(error)
  }
}
