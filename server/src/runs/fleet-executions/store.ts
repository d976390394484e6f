import type { Bounds } from '@roost/contracts/kit/comparison'
import type { ExecutionErrorCode, ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'
import type { TimelineGroup } from '@roost/contracts/runs/fleet-executions'
import { type ExpressionBuilder, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import { type ExecutionRow, type MessageReader, privateTriggers } from '../executions/index.ts'
import type { AgentChoice, CountedBucket, CountedError, Live, RunTotals, Visible } from './rules.ts'

/** Read only: the feature `executions` owns the table. */
export type FleetTables = { executions: ExecutionRow }

export type RunFilter = {
  visible: Visible
  /** Runs created at this time or later; null for all. */
  since: string | null
  /** Runs created at this time or before. */
  until?: string | undefined
  /** An empty text matches runs without a model or an error code. */
  model?: string | undefined
  error?: ExecutionErrorCode | '' | undefined
  /** Ids, of which one matches; an empty list matches runs without a person. */
  person?: readonly string[] | undefined
  /** In micro-dollars, tokens and milliseconds. */
  cost?: Bounds | undefined
  tokens?: Bounds | undefined
  duration?: Bounds | undefined
  agents?: AgentChoice | undefined
  status?: ExecutionStatus | undefined
  triggeredBy?: Trigger | undefined
  /** Matches the id, and the message of runs that this reader may read. */
  search?: { text: string; reader: MessageReader } | undefined
}

/** Started runs in the trace of a run. */
const maxStarted = 200

type Page = { limit: number; offset: number }
type Found = { id: string; total: number | null }
/** `total` counts the matches on all pages. */
type Listed = { rows: ExecutionRow[]; total: number }

export type Columns = ExpressionBuilder<FleetTables, 'executions'>

/**
 * Reads over all agents. Filters and counts use only columns of the indexes `executions_fleet` and
 * `executions_figures`. Full rows are long, so only those of the page are read, and messages only for a
 * search.
 */
export function fleetStore(executor: Executor) {
  const db = executor.withTables<FleetTables>()
  const matching = (filter: RunFilter) =>
    db.selectFrom('executions').where((columns) => columns.and(conditions(columns, filter)))

  const open = (visible: Visible) =>
    matching({ visible, since: null })
      .where('completed_at', 'is', null)
      .where('status', 'in', ['running', 'queued'])

  /**
   * The rows of a page, with the number of matches on all pages. One statement finds and reads them, so that
   * a row still matches the filter when it is read.
   */
  async function rowsOf(page: SelectQueryBuilder<FleetTables, 'executions', Found>): Promise<Listed | null> {
    const rows = await db
      .selectFrom(page.as('page'))
      .innerJoin('executions', 'executions.id', 'page.id')
      .selectAll('executions')
      .select('page.total')
      .orderBy('executions.created_at', 'desc')
      .orderBy('executions.queue_number', 'desc')
      .orderBy('executions.id', 'desc')
      .execute()
    const [first] = rows
    return first ? { rows: rows.map(({ total: _, ...row }) => row), total: Number(first.total) } : null
  }

  const counted = (filter: RunFilter) =>
    matching(filter).select(({ fn }) => fn.countAll<number>().as('total'))

  /** A page past the last one has no row to carry the total, so the total is counted. */
  async function emptyPage(filter: RunFilter, { offset }: Page): Promise<Listed> {
    return { rows: [], total: offset === 0 ? 0 : (await counted(filter).executeTakeFirstOrThrow()).total }
  }

  return {
    /** Newest first; runs with the same timestamp by queue number, then by id. */
    async list(filter: RunFilter, page: Page): Promise<Listed> {
      const found = newestFirst(matching(filter).select(['id', counted(filter).as('total')]))
        .limit(page.limit)
        .offset(page.offset)
      return (await rowsOf(found)) ?? emptyPage(filter, page)
    },

    /** `list` with a search in messages: one pass over them finds the page and counts the matches. */
    async search(filter: RunFilter, page: Page): Promise<Listed> {
      const found = newestFirst(
        matching(filter).select(({ fn }) => ['id', fn.countAll<number>().over().as('total')]),
      )
        .limit(page.limit)
        .offset(page.offset)
      return (await rowsOf(found)) ?? emptyPage(filter, page)
    },

    async one(visible: Visible, id: string): Promise<ExecutionRow | null> {
      const found = matching({ visible, since: null }).selectAll().where('id', '=', id)
      return (await found.executeTakeFirst()) ?? null
    },

    /** The first runs that a run started, by their creation. */
    async startedBy(visible: Visible, id: string): Promise<ExecutionRow[]> {
      return matching({ visible, since: null })
        .selectAll()
        .where('parent_execution_id', '=', id)
        .orderBy('created_at')
        .orderBy('queue_number')
        .orderBy('id')
        .limit(maxStarted)
        .execute()
    },

    /** The matching runs on both sides of a run in the order of `list`. */
    async neighbours(
      filter: RunFilter,
      { created_at, queue_number, id }: ExecutionRow,
    ): Promise<{ previous: ExecutionRow | null; next: ExecutionRow | null }> {
      const beside = (order: 'asc' | 'desc') => {
        const comparison = sql.raw(order === 'asc' ? '>' : '<')
        return matching(filter)
          .selectAll()
          .where(
            sql<boolean>`(created_at, queue_number, id) ${comparison} (${created_at}, ${queue_number}, ${id})`,
          )
          .orderBy('created_at', order)
          .orderBy('queue_number', order)
          .orderBy('id', order)
          .limit(1)
          .executeTakeFirst()
      }
      const [previous, next] = await Promise.all([beside('desc'), beside('asc')])
      return { previous: previous ?? null, next: next ?? null }
    },

    /**
     * Totals of the window, and current runs regardless of their age, in one snapshot. Zeros without runs.
     */
    async statsOf(filter: RunFilter): Promise<{ inWindow: RunTotals; live: Omit<Live, 'waiting'> }> {
      const { running, queued, ...inWindow } = await db
        .selectFrom([
          matching(filter).select(totals).as('window'),
          open(filter.visible)
            .select((columns) => [countOf(columns, 'running'), countOf(columns, 'queued')])
            .as('live'),
        ])
        .selectAll()
        .executeTakeFirstOrThrow()
      return { inWindow, live: { running, queued } }
    },

    async totalsByAgent(filter: RunFilter): Promise<Map<string, RunTotals>> {
      const rows = await matching(filter)
        .select((columns) => ['agent_id', ...totals(columns)])
        .groupBy('agent_id')
        .execute()
      return new Map(rows.map((row) => [row.agent_id, row]))
    },

    /** Current runs by agent; few, however long the history. */
    async live(visible: Visible): Promise<Map<string, Live>> {
      const rows = await open(visible)
        .select((columns) => [
          'agent_id',
          countOf(columns, 'running'),
          countOf(columns, 'queued'),
          columns.fn
            .countAll<number>()
            .filterWhere('status', '=', 'queued')
            .filterWhere('queued_at', 'is not', null)
            .as('waiting'),
        ])
        .groupBy('agent_id')
        .execute()
      return new Map(rows.map((row) => [row.agent_id, row]))
    },

    /** Creation time of each agent's newest run. */
    async lastOf(visible: Visible): Promise<Map<string, string>> {
      const rows = await matching({ visible, since: null })
        .select(({ fn }) => ['agent_id', fn.max('created_at').as('last')])
        .groupBy('agent_id')
        .execute()
      return new Map(rows.map(({ agent_id, last }) => [agent_id, last]))
    },

    /** Failed runs by error code, the most frequent first. */
    async errors(filter: RunFilter): Promise<CountedError[]> {
      return matching({ ...filter, status: 'failed' })
        .select(({ fn }) => [
          'error_code',
          fn.countAll<number>().as('count'),
          fn.count<number>('agent_id').distinct().as('agent_count'),
          fn.min('created_at').as('first_at'),
          fn.max('created_at').as('last_at'),
        ])
        .groupBy('error_code')
        .orderBy('count', 'desc')
        .orderBy('last_at', 'desc')
        .execute()
    },

    /** Only buckets with runs; for `agent` the bucket is the agent id. */
    async buckets(filter: RunFilter, group: TimelineGroup): Promise<CountedBucket[]> {
      return matching(filter)
        .select((columns) => [groupings[group].as('bucket'), ...totals(columns)])
        .groupBy('bucket')
        .execute()
    },

    async firstCreated(filter: RunFilter): Promise<string | null> {
      const row = await matching(filter)
        .select(({ fn }) => fn.min<string | null>('created_at').as('first'))
        .executeTakeFirstOrThrow()
      return row.first
    },

    /**
     * Names of deleted agents by id; with `name` only agents of that name. Only executions keep these names.
     */
    async deletedAgents(name?: string): Promise<Map<string, string>> {
      const rows = await db
        .selectFrom('executions')
        .select(({ fn }) => ['agent_id', fn.max('agent_name').as('name')])
        // A literal: SQLite does not use the partial index for a bound value.
        .where(({ eb, lit }) => eb('agent_deleted', '=', lit(1)))
        .$if(name !== undefined, (query) => query.where('agent_name', '=', name ?? ''))
        .groupBy('agent_id')
        .execute()
      return new Map(rows.map(({ agent_id, name }) => [agent_id, name]))
    },
  }
}

export function conditions(columns: Columns, filter: RunFilter) {
  const { visible, since, until, status, triggeredBy, search, model, error, person, agents } = filter
  const { cost, tokens, duration } = filter
  return [
    ...(visible === 'all' ? [] : [isVisible(columns, visible)]),
    ...(since === null ? [] : [columns('created_at', '>=', since)]),
    ...(until === undefined ? [] : [columns('created_at', '<=', until)]),
    ...(model === undefined ? [] : [isValue(columns, 'model_used', model)]),
    ...(error === undefined ? [] : [isValue(columns, 'error_code', error)]),
    ...(person === undefined ? [] : [isPerson(columns, person)]),
    ...(cost === undefined ? [] : [isWithin(columns, sql.ref('cost_micros'), cost)]),
    ...(tokens === undefined ? [] : [isWithin(columns, tokenSum, tokens)]),
    ...(duration === undefined ? [] : [isWithin(columns, sql.ref('duration_ms'), duration)]),
    ...(agents === undefined ? [] : [isChosen(columns, agents)]),
    ...(status === undefined ? [] : [columns('status', '=', status)]),
    ...(triggeredBy === undefined ? [] : [columns('triggered_by', '=', triggeredBy)]),
    ...(search === undefined ? [] : [isFound(columns, search)]),
  ]
}

function isVisible(columns: Columns, visible: Exclude<Visible, 'all'>) {
  if ('except' in visible) return columns('agent_id', 'not in', [...visible.except])
  const { agentIds, own } = visible
  const full = agentIds.length === 0 ? [] : [columns('agent_id', 'in', [...agentIds])]
  if (!own || own.agentIds.length === 0) return columns.or(full)
  const started = columns('agent_id', 'in', [...own.agentIds]).and('source_mcp_key_id', '=', own.keyId)
  return columns.or([...full, started])
}

function isValue(columns: Columns, column: 'model_used' | 'error_code', value: string) {
  return value === '' ? columns(column, 'is', null) : columns(sql.ref(column), '=', value)
}

function isPerson(columns: Columns, ids: readonly string[]) {
  const [id, ...others] = ids
  if (id === undefined) return columns('source_user_id', 'is', null)
  return others.length === 0 ? columns('source_user_id', '=', id) : columns('source_user_id', 'in', [...ids])
}

/** False for null. */
function isWithin(columns: Columns, value: RawBuilder<unknown>, { least, most }: Bounds) {
  return columns.and([
    ...(least === null ? [] : [columns(value, '>=', least)]),
    ...(most === null ? [] : [columns(value, '<=', most)]),
  ])
}

const tokenSum = sql`input_tokens + output_tokens`

function isChosen(columns: Columns, { ids, isExcluded }: AgentChoice) {
  // An empty list is not valid SQL.
  if (ids.length === 0) return isExcluded ? columns.and([]) : columns.or([])
  return columns('agent_id', isExcluded ? 'not in' : 'in', [...ids])
}

/** Ignores case, by the database's own rule for both sides. */
function isFound(columns: Columns, { text, reader }: { text: string; reader: MessageReader }) {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const contains = (column: 'id' | 'message') =>
    sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`
  return columns.or([contains('id'), columns.and([isReadable(columns, reader), contains('message')])])
}

/** `mayRead` of `executions` as an SQL condition. */
function isReadable(columns: Columns, { readsAll, userId, keyId }: MessageReader) {
  if (readsAll) return columns.and([])
  const { always, chatOnly } = privateTriggers
  const isOthers = columns('triggered_by', 'in', chatOnly).and('kind', '=', 'chat')
  return columns.or([
    columns('triggered_by', 'not in', always).and(columns.not(isOthers)),
    ...(userId === null ? [] : [columns('source_user_id', '=', userId)]),
    ...(keyId === null ? [] : [columns('source_mcp_key_id', '=', keyId)]),
  ])
}

function newestFirst<O>(query: SelectQueryBuilder<FleetTables, 'executions', O>) {
  return query.orderBy('created_at', 'desc').orderBy('queue_number', 'desc').orderBy('id', 'desc')
}

/** Counts with filters instead of grouping by status, which would use a slower index. */
function totals(columns: Columns) {
  return [
    columns.fn.countAll<number>().as('total'),
    countOf(columns, 'success'),
    countOf(columns, 'failed'),
    countOf(columns, 'cancelled'),
    countOf(columns, 'skipped'),
    sql<number>`coalesce(sum(cost_micros), 0)`.as('cost_micros'),
    sql<number>`coalesce(max(cost_estimated), 0)`.as('cost_estimated'),
  ] as const
}

function countOf<S extends ExecutionStatus>({ fn }: Columns, status: S) {
  return fn.countAll<number>().filterWhere('status', '=', status).as(status)
}

/** Timestamps have a fixed width, so their prefixes are hours and days. */
const groupings: Record<TimelineGroup, RawBuilder<string>> = {
  hour: sql`substr(created_at, 1, 13)`,
  day: sql`substr(created_at, 1, 10)`,
  trigger: sql`triggered_by`,
  agent: sql`agent_id`,
}
