import type { PoolClient, QueryResult } from 'pg'
import { namedFault } from './down.ts'
import { isOutdated, type Prepared } from './postgres-prepared.ts'

/** What Kysely asks of a connection. */
export type Client = {
  query(sql: string, parameters: readonly unknown[]): Promise<QueryResult>
  release(isBroken?: boolean): void
}

/**
 * A connection on which statements that are asked for together leave together, and on which a transaction
 * begins with its first statement: each wait for the server costs more than most statements. The server works
 * on them one after another, each sees what the one before it did, and none runs after one that failed.
 */
export function pipelined(client: PoolClient, prepared: Prepared): Client {
  let mustBegin = false
  let isCorked = false

  /** What is sent until this turn of the event loop has no more to do becomes one write. */
  function gather(): void {
    if (isCorked) return
    isCorked = true
    const { stream } = client.connection
    stream.cork()
    process.nextTick(() => {
      isCorked = false
      stream.uncork()
    })
  }

  function send(text: string, parameters: readonly unknown[]): Promise<QueryResult> {
    const name = prepared.nameOf(text, parameters)
    const query = { text, values: [...parameters] }
    return client.query(name === null ? query : { ...query, name })
  }

  return {
    async query(sql, parameters) {
      if (sql === 'begin') {
        mustBegin = true
        return nothing('BEGIN')
      }
      if (mustBegin && (sql === 'commit' || sql === 'rollback')) {
        mustBegin = false
        return nothing(sql.toUpperCase())
      }
      gather()
      try {
        if (!mustBegin) return await send(sql, parameters)
        mustBegin = false
        const [, result] = await Promise.all([client.query('begin'), send(sql, parameters)])
        return result
      } catch (error) {
        if (!isOutdated(error)) throw namedFault(error)
        prepared.forget()
        // A transaction is done again as a whole, by whoever began it.
        if (client.getTransactionStatus() !== 'I') throw error
        return send(sql, parameters)
      }
    },
    release(isBroken) {
      client.release(isBroken)
    },
  }
}

function nothing(command: string): QueryResult {
  return { command, rowCount: 0, oid: 0, rows: [], fields: [] }
}
