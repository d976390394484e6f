import type { ExecutionErrorCode, ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'
import { type InsertResult, type SelectQueryBuilder, sql } from 'kysely'
import type { RunOf } from '../../identity/run-keys/index.ts'
import type { Executor, RowStatement } from '../../ports/database/port.ts'
import { concurrentColumns, insertValues } from './columns.ts'
import { isFinal } from './rules.ts'
import type { ExecutionsTable, ExecutionTables } from './tables.ts'

export type ExecutionRow = ExecutionsTable

export type ExecutionFilter = {
  agentId: string
  status?: ExecutionStatus | undefined
  triggeredBy?: Trigger | undefined
  /** An empty text: runs without an error code. */
  error?: ExecutionErrorCode | '' | undefined
  /** Only runs of schedules; their validations only `withValidations`. */
  ofSchedules?: boolean
  withValidations?: boolean
  /** Only runs that this key started. */
  keyId?: string | undefined
}

type PageQuery = { limit: number; offset: number }

/** Columns that may be set with the end of a run, in addition to status and time. */
export type EndPatch = Partial<
  Pick<
    ExecutionsTable,
    | 'response'
    | 'error'
    | 'error_code'
    | 'terminal_reason'
    | 'duration_ms'
    | 'cost_micros'
    | 'model_used'
    | 'context_used'
    | 'context_max'
    | 'input_tokens'
    | 'output_tokens'
    | 'cache_creation_tokens'
    | 'cache_read_tokens'
    | 'num_turns'
    | 'tool_count'
    | 'compact_events'
    | 'runtime_session_id'
  >
>

/** Usage of a model request, or of a further part of it. */
export type Usage = {
  /** 1 for the first part of a request, else 0. */
  requests: number
  cost_micros: number
  is_cost_estimated: boolean
  input_tokens: number
  output_tokens: number
  cache_creation_tokens: number
  cache_read_tokens: number
  model: string | null
  context_used: number
  context_max: number | null
}

/** Rows per statement; one fixed length keeps the number of prepared statements low. */
const rowsPerInsert = 50

/** Reads and ends runs. `queue-store.ts` has the state changes of the queue. */
export function executionStore(executor: Executor) {
  const db = executor.withTables<ExecutionTables>()

  function matching<O>(query: SelectQueryBuilder<ExecutionTables, 'executions', O>, filter: ExecutionFilter) {
    const { agentId, status, triggeredBy, error, ofSchedules, withValidations, keyId } = filter
    return query
      .where('agent_id', '=', agentId)
      .$if(status !== undefined, (q) => q.where('status', '=', status ?? 'queued'))
      .$if(triggeredBy !== undefined, (q) => q.where('triggered_by', '=', triggeredBy ?? 'chat'))
      .$if(error === '', (q) => q.where('error_code', 'is', null))
      .$if(Boolean(error), (q) => q.where('error_code', '=', error || null))
      .$if(ofSchedules === true, (q) => q.where('schedule_id', 'is not', null))
      .$if(ofSchedules === true && !withValidations, (q) => q.where('triggered_by', '!=', 'validation'))
      .$if(keyId !== undefined, (q) => q.where('source_mcp_key_id', '=', keyId ?? ''))
  }

  const counted = (filter: ExecutionFilter) =>
    matching(db.selectFrom('executions'), filter).select(({ fn }) => fn.countAll<number>().as('number'))

  /**
   * Newest first, with the total of matches, in one consistent statement. The index `executions_figures`
   * finds the page, so only its own rows, which are long, are read.
   */
  async function page(
    filter: ExecutionFilter,
    { limit, offset }: PageQuery,
  ): Promise<{ rows: ExecutionRow[]; total: number }> {
    const ids = matching(db.selectFrom('executions').select('id'), filter)
      .orderBy('created_at', 'desc')
      .orderBy('queue_number', 'desc')
      .limit(limit)
      .offset(offset)
    const found = await db
      .selectFrom('executions')
      .selectAll()
      .select(counted(filter).as('all_pages'))
      .where('id', 'in', ids)
      .orderBy('created_at', 'desc')
      .orderBy('queue_number', 'desc')
      .execute()
    const total = found[0]?.all_pages ?? (await counted(filter).executeTakeFirstOrThrow()).number
    return { rows: found.map(({ all_pages: _, ...row }) => row), total: Number(total) }
  }

  const insertion: RowStatement<ExecutionRow, InsertResult> = {
    name: 'executions.insert',
    rows: rowsPerInsert,
    make: (batch) => db.insertInto('executions').values([...batch]),
  }

  return {
    async insert(row: ExecutionRow): Promise<void> {
      await executor.manyRows(insertion, [insertValues(row)])
    },

    /** Sends the statements concurrently. */
    async insertAll(rows: readonly ExecutionRow[]): Promise<void> {
      // All rows of a statement have the same columns.
      const alike = Map.groupBy(rows.map(insertValues), (row) => Object.keys(row).length).values()
      await Promise.all(alike.map((batch) => executor.manyRows(insertion, batch)))
    },

    async byId(id: string): Promise<ExecutionRow | null> {
      const row = await db.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst()
      return row ?? null
    },

    /** Null for an unknown run. */
    async chainDepth(id: string): Promise<number | null> {
      const row = await db
        .selectFrom('executions')
        .select('chain_depth')
        .where('id', '=', id)
        .executeTakeFirst()
      return row?.chain_depth ?? null
    },

    /** Status and line count of a run; cheap, for readers that poll. */
    async progress(id: string): Promise<{ status: ExecutionStatus; last_line: number } | null> {
      const row = await db
        .selectFrom('executions')
        .select(['status', 'last_line'])
        .where('id', '=', id)
        .executeTakeFirst()
      return row ?? null
    },

    page,
    list: async (filter: ExecutionFilter, query: PageQuery) => (await page(filter, query)).rows,
    count: async (filter: ExecutionFilter) =>
      Number((await counted(filter).executeTakeFirstOrThrow()).number),

    async running(agentId: string): Promise<ExecutionRow[]> {
      return db
        .selectFrom('executions')
        .selectAll()
        .where('agent_id', '=', agentId)
        .where('completed_at', 'is', null)
        .where('status', '=', 'running')
        .orderBy('started_at', 'desc')
        .execute()
    },

    /** The last claim of those of these runs of the agent that have ended, by their ids. */
    async endedClaims(agentId: string, ids: readonly string[]): Promise<Map<string, number | null>> {
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('executions')
        .select(['id', 'status', 'claim_token'])
        .where('id', 'in', [...new Set(ids)])
        .where('agent_id', '=', agentId)
        .execute()
      return new Map(rows.filter((row) => isFinal(row.status)).map((row) => [row.id, row.claim_token]))
    },

    /** The running turn of each session, else its first queued one. Tasks with a session id do not count. */
    async inFlight(sessionIds: readonly string[]): Promise<Map<string, string>> {
      if (sessionIds.length === 0) return new Map()
      const rows = await db
        .selectFrom('executions')
        .select(['id', 'session_id', 'status'])
        .where('session_id', 'in', [...sessionIds])
        .where('kind', '=', 'chat')
        .where('status', 'in', ['queued', 'running'])
        .orderBy('queued_at', 'desc')
        .orderBy('queue_number', 'desc')
        .execute()
      const waiting = rows.filter((row) => row.status === 'queued')
      const running = rows.filter((row) => row.status === 'running')
      return new Map([...waiting, ...running].map((row) => [row.session_id ?? '', row.id]))
    },

    /**
     * Ends a run whose status is in `from` and, if given, whose claim matches. `row` was read in this
     * transaction. Returns null when another writer was first.
     */
    async end(
      row: ExecutionRow,
      from: { statuses: readonly ExecutionStatus[]; claimToken?: number },
      patch: EndPatch & { status: ExecutionStatus; completed_at: string },
    ): Promise<ExecutionRow | null> {
      let query = db
        .updateTable('executions')
        .set({ ...patch, lease_expires_at: null })
        .where('id', '=', row.id)
        .where('status', 'in', [...from.statuses])
      if (from.claimToken !== undefined) query = query.where('claim_token', '=', from.claimToken)
      const current = await query.returning(concurrentColumns).executeTakeFirst()
      return current ? { ...row, ...patch, lease_expires_at: null, ...current } : null
    },

    /** Returns true for the first late result of a run. */
    async markLateResult(id: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('executions')
        .set({ late_result_at: at })
        .where('id', '=', id)
        .where('late_result_at', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Reserves the next line number of a run for a line from the platform. */
    async nextLine(id: string): Promise<number> {
      const row = await db
        .updateTable('executions')
        .set((e) => ({ last_line: e('last_line', '+', 1) }))
        .where('id', '=', id)
        .returning('last_line')
        .executeTakeFirstOrThrow()
      return row.last_line
    },

    /** Adds the usage of a request, also after the end of the run, because the cost was incurred. */
    async addUsage(id: string, usage: Usage): Promise<void> {
      await db
        .updateTable('executions')
        .set((e) => {
          const plus = (
            column:
              | 'cost_micros'
              | 'input_tokens'
              | 'output_tokens'
              | 'cache_creation_tokens'
              | 'cache_read_tokens',
          ) => e(e.fn.coalesce(column, e.lit(0)), '+', usage[column])
          // A CLI sends side requests (titles, summaries) to small models: the fullest window is the run's
          // own.
          const fullest = <T>(column: 'context_used' | 'context_max' | 'model_used', value: T) =>
            sql<T>`case when coalesce(context_used, 0) <= ${usage.context_used} then ${value} else ${sql.ref(column)} end`
          return {
            metered_requests: e('metered_requests', '+', usage.requests),
            cost_micros: plus('cost_micros'),
            // The sum is an estimate as soon as one part is.
            ...(usage.is_cost_estimated ? { cost_estimated: 1 } : {}),
            input_tokens: plus('input_tokens'),
            output_tokens: plus('output_tokens'),
            cache_creation_tokens: plus('cache_creation_tokens'),
            cache_read_tokens: plus('cache_read_tokens'),
            context_used: fullest('context_used', usage.context_used),
            ...(usage.context_max === null ? {} : { context_max: fullest('context_max', usage.context_max) }),
            ...(usage.model === null ? {} : { model_used: fullest('model_used', usage.model) }),
          }
        })
        .where('id', '=', id)
        .execute()
    },

    /** Locks the run until the end of the transaction. Returns false for an unknown one. */
    async lock(id: string): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('executions')
        .set((e) => ({ id: e.ref('id') }))
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },

    /** The run if it is running for this agent, or the running turn of the conversation: turns are serial. */
    async runningOf({ kind, id, agentId }: RunOf): Promise<Pick<ExecutionRow, 'id' | 'principal'> | null> {
      const query = db
        .selectFrom('executions')
        .select(['id', 'principal'])
        .where('status', '=', 'running')
        .where('agent_id', '=', agentId)
      const row = await (kind === 'session'
        ? query.where('session_id', '=', id).where('kind', '=', 'chat')
        : query.where('id', '=', id)
      ).executeTakeFirst()
      return row ?? null
    },

    async rename(agentId: string, name: string): Promise<void> {
      await db.updateTable('executions').set({ agent_name: name }).where('agent_id', '=', agentId).execute()
    },

    async markAgentDeleted(agentId: string): Promise<void> {
      await db.updateTable('executions').set({ agent_deleted: 1 }).where('agent_id', '=', agentId).execute()
    },
  }
}

export type ExecutionStore = ReturnType<typeof executionStore>
