import type { PoolClient, QueryResult } from 'pg'
import { namedFault } from './down.ts'
import { isOutdated, type Prepared } from './postgres-prepared.ts'

/** The interface that Kysely needs from a connection. */
export type Client = {
  query(sql: string, parameters: readonly unknown[]): Promise<QueryResult>
  release(isBroken?: boolean): void
}

/**
 * A connection that pipelines concurrent statements and sends `begin` with the first statement. Each round
 * trip costs more than most statements. The server runs them in order, and none runs after a failed one.
 */
export function pipelined(client: PoolClient, prepared: Prepared): Client {
  let mustBegin = false
  let isCorked = false

  /** Combines everything sent in this iteration of the event loop into one write. */
  function cork(): void {
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
        return emptyResult('BEGIN')
      }
      if (mustBegin && (sql === 'commit' || sql === 'rollback')) {
        mustBegin = false
        return emptyResult(sql.toUpperCase())
      }
      cork()
      try {
        if (!mustBegin) return await send(sql, parameters)
        mustBegin = false
        const [, result] = await Promise.all([client.query('begin'), send(sql, parameters)])
        return result
      } catch (error) {
        if (!isOutdated(error)) throw namedFault(error)
        prepared.forget()
        // Inside a transaction the caller must repeat all of it.
        if (client.getTransactionStatus() !== 'I') throw error
        return send(sql, parameters)
      }
    },
    release(isBroken) {
      client.release(isBroken)
    },
  }
}

function emptyResult(command: string): QueryResult {
  return { command, rowCount: 0, oid: 0, rows: [], fields: [] }
}
