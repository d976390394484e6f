import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { sqliteCode } from './down.ts'
import type { Opened } from './opened.ts'
import { openStatements, type Statements } from './sqlite-statements.ts'
import { createWriteTurns } from './write-turns.ts'

/**
 * SQLite in WAL mode through node:sqlite, with two connections. Reads outside transactions have their own and
 * never wait. Writes share the other one. Processes may share the file: write transactions take the lock when
 * they begin, waiting does not block this process, and no process starves others.
 */
export async function openSqlite(path: string): Promise<Opened> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // SQLite would create a world-readable file; its companion files copy this mode.
  closeSync(openSync(path, 'a', 0o600))
  const writer = await whenFree(() => openConnection(path))
  const reader = await whenFree(() => openConnection(path, { readOnly: true }))
  return {
    dialect: {
      createAdapter: () => new SharedFileAdapter(),
      createDriver: () => createDriver(writer, reader),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    async close() {
      reader.close()
      writer.close()
    },
  }
}

/** Kysely would queue everything on one connection; the driver below queues only writes. */
class SharedFileAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

type Connection = DatabaseConnection & { transaction: { release: () => void } | null }

function createDriver(writer: Statements, reader: Statements): Driver {
  const turn = createWriteTurns()

  const execute = async (connection: Connection, query: CompiledQuery): Promise<QueryResult<never>> => {
    if (connection.transaction) return writer.run(query)
    if (isRead(query)) return whenFree(() => reader.run(query))
    const release = await turn()
    try {
      return await whenFree(() => writer.run(query))
    } finally {
      release()
    }
  }

  const end = (connection: Connection, command: 'commit' | 'rollback') => {
    const { transaction } = connection
    if (!transaction) return
    try {
      if (writer.isTransaction()) writer.exec(command)
    } finally {
      // A failed commit leaves the transaction open, so it is rolled back.
      if (writer.isTransaction()) writer.exec('rollback')
      connection.transaction = null
      transaction.release()
    }
  }

  return {
    async init() {},
    async acquireConnection() {
      const connection: Connection = {
        transaction: null,
        executeQuery: <R>(query: CompiledQuery) => execute(connection, query) as Promise<QueryResult<R>>,
        async *streamQuery<R>(query: CompiledQuery) {
          // Read immediately: an open cursor would prevent checkpoints of the file.
          yield (await execute(connection, query)) as QueryResult<R>
        },
      }
      return connection
    },
    async beginTransaction(connection) {
      const release = await turn()
      try {
        await whenFree(() => writer.exec('begin immediate'))
        ;(connection as Connection).transaction = { release }
      } catch (error) {
        release()
        throw error
      }
    },
    async commitTransaction(connection) {
      end(connection as Connection, 'commit')
    },
    async rollbackTransaction(connection) {
      end(connection as Connection, 'rollback')
    },
    async releaseConnection() {},
    async destroy() {
      // Waits for running writes; whoever opened the connections closes them.
      const release = await turn()
      release()
    },
  }
}

function isRead(query: CompiledQuery): boolean {
  return SelectQueryNode.is(query.query) || /^\s*select\b/i.test(query.sql)
}

function openConnection(path: string, options: { readOnly?: boolean } = {}): Statements {
  const file = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true })
  try {
    if (options.readOnly) {
      file.exec('pragma query_only = on')
    } else {
      file.exec('pragma journal_mode = wal')
      file.exec('pragma synchronous = full')
    }
    file.exec('pragma cache_size = -16000')
    return openStatements(file)
  } catch (error) {
    file.close()
    throw error
  }
}

/** SQLite's own waiting blocks this process, so it is short; the rest is waited between attempts. */
const busyTimeoutMs = 1
const busyLimitMs = 15_000
/**
 * With jitter still shorter than the gap of other processes (see `createWriteTurns`), so no gap is missed.
 */
const maxPauseMs = 8

async function whenFree<T>(attempt: () => T): Promise<T> {
  const giveUpAt = performance.now() + busyLimitMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpAt) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())))
  }
}

/** SQLITE_BUSY and SQLITE_LOCKED with their extended codes. */
function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === 5 || code === 6
}
