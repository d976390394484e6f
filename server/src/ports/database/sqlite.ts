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
 * SQLite in WAL mode through node:sqlite. Two connections: reads outside transactions have one of their
 * own, so that they never wait for a transaction; all writing goes through the other, one at a time.
 * Several processes may share the file: write transactions take the write lock when they begin, and a busy
 * file is waited for without blocking this process, and no process keeps the others out by writing on and on.
 */
export async function openSqlite(path: string): Promise<Opened> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // SQLite would make a file that everybody may read; its companions get the mode of this one.
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

/** Kysely would queue everything on one connection; the driver below queues writes only. */
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
      // A commit that failed leaves the transaction open; nothing may stay behind it.
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
          // Read at once: an open cursor would keep the file from being checkpointed for as long as it lives.
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
      // What is being written is written; the connections are closed by whoever opened them.
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

/** SQLite's own waiting blocks this process, so it is short; the rest is waited for between attempts. */
const busyTimeoutMs = 1
const busyLimitMs = 15_000
/** With what chance adds, shorter than the gap that others leave (see `createWriteTurns`): no gap is missed. */
const longestPauseMs = 8

async function whenFree<T>(attempt: () => T): Promise<T> {
  const giveUpAt = performance.now() + busyLimitMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
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
