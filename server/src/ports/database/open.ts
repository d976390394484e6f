import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Driver, Kysely, type Logger, sql, Transaction } from 'kysely'
import type { Meters } from '../../kit/platform-meters.ts'
import type { Log } from '../log.ts'
import type { Opened } from './opened.ts'
import type { Db, Tx } from './port.ts'
import { isOutdated } from './postgres-prepared.ts'
import { createRowStatements, type RunRows } from './row-statements.ts'
import { createShared } from './shared.ts'
import { openSqlite } from './sqlite.ts'

/**
 * Opens `sqlite:<path>` (creates the file if missing) or `postgres://…`, whose client is loaded only then.
 * Runs no migrations.
 */
export async function openDatabase(
  url: string,
  log: Pick<Log, 'warn' | 'error'>,
  meters?: DatabaseMeters,
): Promise<Db> {
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1]
  if (path !== undefined) return createDb('sqlite', await openSqlite(path), log, meters)
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { openPostgres } = await import('./postgres.ts')
    const onLost = (error: Error) => log.warn({ err: error }, 'an idle database connection was lost')
    return createDb('postgres', openPostgres(url, onLost), log, meters)
  }
  throw new Error('The database URL must start with sqlite: or postgres:')
}

/** Observes every statement. Left out by processes that nobody scrapes. */
export type DatabaseMeters = Pick<Meters, 'databaseSeconds' | 'databaseErrors'>

const attempts = 8
/** Above this duration a transaction is logged, because on SQLite it blocks all other writers. */
const slowMs = 1_000

function createDb(
  name: Db['dialect'],
  opened: Opened,
  log: Pick<Log, 'warn' | 'error'>,
  meters?: DatabaseMeters,
): Db {
  const { dialect } = opened
  const scopes = new AsyncLocalStorage<{ open: boolean }>()
  const refuseInside = () => {
    if (scopes.getStore()?.open) {
      throw new Error('Inside atomically only the transaction has a database: make the store from tx.')
    }
  }
  const driver = guarded(dialect.createDriver(), refuseInside)
  const guardedDialect = {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => driver,
    createIntrospector: (db: Kysely<unknown>) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  }
  const kysely = new Kysely<unknown>({
    dialect: guardedDialect,
    ...(meters ? { log: observer(meters) } : {}),
  })
  const rowStatements = createRowStatements()
  const manyRowsOn = (on: Kysely<unknown>) => rowStatements((query) => on.executeQuery(query))

  /** Kysely would wait for each statement of a transaction before sending the next. */
  async function pipelinedTransaction(transaction: Transaction<unknown>): Promise<Transaction<unknown>> {
    const queue = transaction.getExecutor()
    const connection = await queue.provideConnection(async (given) => given)
    const executor = queue.withConnectionProvider({ provideConnection: (consumer) => consumer(connection) })
    return new Transaction({ config: { dialect: guardedDialect }, dialect: guardedDialect, driver, executor })
  }

  const once = async <T>(work: (tx: Tx) => Promise<T>) => {
    const acts: (() => void)[] = []
    const statements: Promise<unknown>[] = []
    const scope = { open: true }
    const startedAt = performance.now()
    try {
      const result = await kysely.transaction().execute(async (transaction) => {
        const on = await pipelinedTransaction(transaction)
        const tx = createTx({ on, manyRows: manyRowsOn(on) }, acts, statements)
        const result = await scopes.run(scope, () => work(tx))
        // Otherwise SQLite would commit the rest of a transaction with a failed statement.
        if (name === 'sqlite') await Promise.all(statements)
        return result
      })
      return { result, acts }
    } catch (error) {
      // PostgreSQL turned the commit into a rollback; the failed statement has the reason.
      await Promise.all(statements)
      throw error
    } finally {
      scope.open = false
      const ms = Math.round(performance.now() - startedAt)
      if (ms > slowMs) log.warn({ ms }, 'slow database transaction')
    }
  }

  async function atomically<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    refuseInside()
    for (let attempt = 1; ; attempt++) {
      try {
        const { result, acts } = await once(work)
        for (const act of acts) runCommitted(act, log)
        return result
      } catch (error) {
        if (attempt === attempts || !isRetriable(error)) throw error
      }
      await sleep(5 * 2 ** attempt * Math.random())
    }
  }
  const shared = createShared(atomically)

  return {
    dialect: name,
    withTables: <Tables>() => kysely as unknown as Kysely<Tables>,
    manyRows: manyRowsOn(kysely),
    atomically,
    async atomicallyShared(sharing, work) {
      refuseInside()
      return shared(sharing, work)
    },
    async snapshot(work) {
      refuseInside()
      return kysely
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute((transaction) => {
          const scope = { open: true }
          const on = {
            withTables: <Tables>() => transaction as unknown as Kysely<Tables>,
            manyRows: manyRowsOn(transaction),
          }
          return scopes
            .run(scope, () => work(on))
            .finally(() => {
              scope.open = false
            })
        })
    },
    async ping() {
      await sql`select 1`.execute(kysely)
    },
    async close() {
      // Does nothing for an unused database, hence the second step.
      await kysely.destroy()
      await opened.close()
    },
  }
}

function observer({ databaseSeconds, databaseErrors }: DatabaseMeters): Logger {
  return (event) => {
    const operation = operationOf(event.query.sql)
    databaseSeconds.observe([operation], event.queryDurationMillis / 1000)
    if (event.level === 'error') databaseErrors.add([operation])
  }
}

function operationOf(statement: string): string {
  const [, word = ''] = /^\s*(select|insert|update|delete)\b/i.exec(statement) ?? []
  return word.toLowerCase() || 'other'
}

function createTx(
  { on, manyRows }: { on: Transaction<unknown>; manyRows: RunRows },
  acts: (() => void)[],
  statements: Promise<unknown>[],
): Tx {
  return {
    withTables: <Tables>() => on as unknown as Transaction<Tables>,
    manyRows,
    alongside(statement) {
      statements.push(statement)
      // The rejection is handled at the commit.
      statement.catch(() => {})
    },
    inTurn: (work) => work(),
    onCommitted: (act) => acts.push(act),
  }
}

/** The transaction is committed: a failing callback must not make it look failed. */
function runCommitted(act: () => void, log: Pick<Log, 'error'>): void {
  try {
    act()
  } catch (error) {
    log.error({ err: error }, 'an act after a commit failed')
  }
}

/** Queries of an open transaction acquire no connection, so every acquisition comes from outside it. */
function guarded(driver: Driver, check: () => void): Driver {
  const acquire = driver.acquireConnection.bind(driver)
  driver.acquireConnection = async (options) => {
    check()
    return acquire(options)
  }
  return driver
}

/** Serialization failure, deadlock or outdated plan: the same work may succeed if repeated. */
function isRetriable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === '40001' || code === '40P01' || isOutdated(error)
}
