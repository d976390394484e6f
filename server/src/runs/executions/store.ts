import type { ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'
import { type InsertResult, type SelectQueryBuilder, sql } from 'kysely'
import type { Executor, RowStatement } from '../../ports/database/port.ts'
import { movedMeanwhile, written } from './columns.ts'
import type { ExecutionsTable, ExecutionTables } from './tables.ts'

export type ExecutionRow = ExecutionsTable

export type ExecutionFilter = {
  agentId: string
  status?: ExecutionStatus | undefined
  triggeredBy?: Trigger | undefined
  /** Only runs of schedules. */
  ofSchedules?: boolean
  /** Only runs that this key started. */
  keyId?: string | undefined
}

type PageAsked = { limit: number; offset: number }

/** What a run may be given with its end; status and time are set beside it. */
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

/** What a request to a model used, or a further part of it. */
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

/** Few lengths are few statements, and those are prepared. */
const rowsOfInsert = 50

/** Reading and ending runs. The moves of the queue are in `queue-store.ts`. */
export function executionStore(executor: Executor) {
  const db = executor.withTables<ExecutionTables>()

  function matching<O>(query: SelectQueryBuilder<ExecutionTables, 'executions', O>, filter: ExecutionFilter) {
    const { agentId, status, triggeredBy, ofSchedules, keyId } = filter
    return query
      .where('agent_id', '=', agentId)
      .$if(status !== undefined, (q) => q.where('status', '=', status ?? 'queued'))
      .$if(triggeredBy !== undefined, (q) => q.where('triggered_by', '=', triggeredBy ?? 'chat'))
      .$if(ofSchedules === true, (q) => q.where('schedule_id', 'is not', null))
      .$if(keyId !== undefined, (q) => q.where('source_mcp_key_id', '=', keyId ?? ''))
  }

  const counted = (filter: ExecutionFilter) =>
    matching(db.selectFrom('executions'), filter).select(({ fn }) => fn.countAll<number>().as('number'))

  /**
   * Newest first, and how many match on all pages, in one statement: else a row may have moved on since it was
   * found. The page is found in the index `executions_figures`: only its own rows, which are long, are opened.
   */
  async function page(
    filter: ExecutionFilter,
    { limit, offset }: PageAsked,
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
    rows: rowsOfInsert,
    make: (some) => db.insertInto('executions').values([...some]),
  }

  return {
    async insert(row: ExecutionRow): Promise<void> {
      await executor.manyRows(insertion, [written(row)])
    },

    /** The statements are sent at once. */
    async insertAll(rows: readonly ExecutionRow[]): Promise<void> {
      // A statement names the columns of all its rows.
      const alike = Map.groupBy(rows.map(written), (row) => Object.keys(row).length).values()
      await Promise.all(alike.map((some) => executor.manyRows(insertion, some)))
    },

    async byId(id: string): Promise<ExecutionRow | null> {
      const row = await db.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst()
      return row ?? null
    },

    /** How far a run is; cheap, for readers who look often. */
    async progress(id: string): Promise<{ status: ExecutionStatus; last_line: number } | null> {
      const row = await db
        .selectFrom('executions')
        .select(['status', 'last_line'])
        .where('id', '=', id)
        .executeTakeFirst()
      return row ?? null
    },

    page,
    list: async (filter: ExecutionFilter, asked: PageAsked) => (await page(filter, asked)).rows,
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

    /** Of each session the turn that is worked on, else the first that waits; tasks that name one are none. */
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
     * Ends a run that is in one of `from` and, when given, under this claim; `row` is as it was read in this
     * transaction. Null: somebody else was first.
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
      const moved = await query.returning(movedMeanwhile).executeTakeFirst()
      return moved ? { ...row, ...patch, lease_expires_at: null, ...moved } : null
    },

    /** True for the first late result of a run. */
    async markLateResult(id: string, at: string): Promise<boolean> {
      const result = await db
        .updateTable('executions')
        .set({ late_result_at: at })
        .where('id', '=', id)
        .where('late_result_at', 'is', null)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Takes the next line number of a run for a line of the platform's own. */
    async nextLine(id: string): Promise<number> {
      const row = await db
        .updateTable('executions')
        .set((e) => ({ last_line: e('last_line', '+', 1) }))
        .where('id', '=', id)
        .returning('last_line')
        .executeTakeFirstOrThrow()
      return row.last_line
    },

    /** Adds what a request used. Also after the end: what was spent was spent. */
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
          // A CLI makes side requests (titles, summaries) to small models: the fullest window is the run's own.
          const fullest = <T>(column: 'context_used' | 'context_max' | 'model_used', value: T) =>
            sql<T>`case when coalesce(context_used, 0) <= ${usage.context_used} then ${value} else ${sql.ref(column)} end`
          return {
            metered_requests: e('metered_requests', '+', usage.requests),
            cost_micros: plus('cost_micros'),
            // Once a part is an estimate, so is the sum.
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

    /** The id of the run when it is running for this agent. */
    async runningRun(agentId: string, executionId: string): Promise<string | null> {
      const row = await db
        .selectFrom('executions')
        .select('id')
        .where('id', '=', executionId)
        .where('agent_id', '=', agentId)
        .where('status', '=', 'running')
        .executeTakeFirst()
      return row?.id ?? null
    },

    /** The run of a conversation that is running for this agent; turns are serial, so there is one at most. */
    async runningTurn(agentId: string, sessionId: string): Promise<string | null> {
      const row = await db
        .selectFrom('executions')
        .select('id')
        .where('session_id', '=', sessionId)
        .where('kind', '=', 'chat')
        .where('status', '=', 'running')
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return row?.id ?? null
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
