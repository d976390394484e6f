import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely, KyselyPlugin, Transaction } from 'kysely'
import type { Db, Executor, Tx } from '../ports/database/port.ts'

/**
 * Delays each result of a database by a random time up to `maxMs`, to reveal wrong assumptions about order.
 * Results within one transaction keep their order.
 */
export function slowed<Some extends Db>(db: Some, maxMs: number): Some {
  const pause = () => sleep(Math.random() * maxMs)
  const plugin = pluginOf(pause)
  // Members of a shared transaction have one connection.
  const connections = new WeakMap<Tx['withTables'], Pick<Tx, 'withTables' | 'manyRows'>>()
  const slowTx = (tx: Tx): Tx => {
    const connection = connections.get(tx.withTables) ?? inOrder(tx, pause)
    connections.set(tx.withTables, connection)
    return { ...tx, ...connection }
  }
  const slowWork =
    <T>(work: (tx: Tx) => Promise<T>) =>
    async (tx: Tx) => {
      await pause()
      const result = await work(slowTx(tx))
      await pause()
      return result
    }
  return {
    ...db,
    ...executorOf(db, plugin, pause),
    async atomically(work) {
      const result = await db.atomically(slowWork(work))
      await pause()
      return result
    },
    async atomicallyShared(shared, work) {
      const result = await db.atomicallyShared(shared, slowWork(work))
      await pause()
      return result
    },
    snapshot: (work) => db.snapshot((on) => work(executorOf(on, plugin, pause))),
    async ping() {
      await db.ping()
      await pause()
    },
  }
}

function inOrder(tx: Tx, pause: () => Promise<void>): Pick<Tx, 'withTables' | 'manyRows'> {
  let previous: Promise<unknown> = Promise.resolve()
  const next = () => {
    previous = Promise.all([previous, pause()])
    return previous
  }
  const plugin = pluginOf(next)
  return {
    ...executorOf(tx, plugin, next),
    // A transaction with a plugin is still a transaction.
    withTables: <Tables>() => tx.withTables<Tables>().withPlugin(plugin) as Transaction<Tables>,
  }
}

function executorOf(on: Executor, plugin: KyselyPlugin, pause: () => Promise<unknown>): Executor {
  return {
    withTables: <Tables>(): Kysely<Tables> => on.withTables<Tables>().withPlugin(plugin),
    async manyRows(statement, rows) {
      const result = await on.manyRows(statement, rows)
      await pause()
      return result
    },
  }
}

function pluginOf(pause: () => Promise<unknown>): KyselyPlugin {
  return {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await pause()
      return result
    },
  }
}
