import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'
import { namedFault } from './down.ts'

/** A connection with a cache of prepared statements. */
export type Statements = {
  /** Throws `DatabaseFull` when the disk is full; so does `exec`. */
  run(query: CompiledQuery): QueryResult<never>
  exec(sql: string): void
  isTransaction(): boolean
  close(): void
}

/** Query texts are few, but those with lists of varying length must not fill the memory. */
const maxStatements = 500

export function openStatements(file: DatabaseSync): Statements {
  const cache = new Map<string, { statement: StatementSync; returnsRows: boolean }>()

  const prepare = (sql: string) => {
    const found = cache.get(sql)
    if (found) {
      // Moved to the end, so that the first entry is the least recently used.
      cache.delete(sql)
      cache.set(sql, found)
      return found
    }
    const statement = file.prepare(sql)
    const entry = { statement, returnsRows: statement.columns().length > 0 }
    cache.set(sql, entry)
    const [oldest] = cache.keys()
    if (cache.size > maxStatements && oldest !== undefined) cache.delete(oldest)
    return entry
  }

  const run = ({ sql, parameters }: CompiledQuery): QueryResult<never> => {
    const { statement, returnsRows } = prepare(sql)
    // Stores bind only text, numbers and null; the driver refuses other values.
    const values = parameters as SQLInputValue[]
    if (returnsRows) return { rows: statement.all(...values) as never[] }
    const { changes, lastInsertRowid } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  return {
    run: (query) => withNamedFaults(() => run(query)),
    exec: (sql) => withNamedFaults(() => file.exec(sql)),
    isTransaction: () => file.isTransaction,
    close() {
      cache.clear()
      if (file.isOpen) file.close()
    },
  }
}

function withNamedFaults<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw namedFault(error)
  }
}
