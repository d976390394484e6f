import type { ExecutionStatus, Trigger } from '@roost/contracts/runs/executions'
import type { TimelineGroup } from '@roost/contracts/runs/fleet'
import { type ExpressionBuilder, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import { type ExecutionRow, type MessageReader, privateTriggers } from '../executions/index.ts'
import type { CountedBucket, Live, RunTotals, Visible } from './rules.ts'
import type { FleetTables } from './tables.ts'

export type RunFilter = {
  visible: Visible
  /** Runs created then or later; null for all. */
  since: string | null
  status?: ExecutionStatus | undefined
  triggeredBy?: Trigger | undefined
  /** Found in the id, and in the message of runs that this reader may read. */
  search?: { text: string; reader: MessageReader } | undefined
}

type Page = { limit: number; offset: number }
type Found = { id: string; total: number | null }
/** `total`: how many match, on all pages. */
type Listed = { rows: ExecutionRow[]; total: number }

type Columns = ExpressionBuilder<FleetTables, 'executions'>

/**
 * Reads over all agents. Counting and finding look at the columns of the indexes `executions_fleet` and
 * `executions_figures` only; of a row, which is long, only those of the page are opened, and messages only to
 * be searched.
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
   * The rows of a page, with how many match on all pages. Finding and opening are one statement: else a row may no
   * longer be what was asked for when it is opened.
   */
  async function opened(found: SelectQueryBuilder<FleetTables, 'executions', Found>): Promise<Listed | null> {
    const rows = await db
      .selectFrom(found.as('page'))
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

  /** Behind the last page nobody says how many match. */
  async function nothingOn(filter: RunFilter, { offset }: Page): Promise<Listed> {
    return { rows: [], total: offset === 0 ? 0 : (await counted(filter).executeTakeFirstOrThrow()).total }
  }

  return {
    /** Newest first; runs of one moment in the order in which they came, then by id. */
    async list(filter: RunFilter, page: Page): Promise<Listed> {
      const found = newestFirst(matching(filter).select(['id', counted(filter).as('total')]))
        .limit(page.limit)
        .offset(page.offset)
      return (await opened(found)) ?? nothingOn(filter, page)
    },

    /** The same where messages are searched: they are read once, for the page and for the number. */
    async search(filter: RunFilter, page: Page): Promise<Listed> {
      const found = newestFirst(
        matching(filter).select(({ fn }) => ['id', fn.countAll<number>().over().as('total')]),
      )
        .limit(page.limit)
        .offset(page.offset)
      return (await opened(found)) ?? nothingOn(filter, page)
    },

    /** Of the window, and what runs and waits now whenever it was made; of one moment. Without a run all is 0. */
    async standing(filter: RunFilter): Promise<{ inWindow: RunTotals; live: Omit<Live, 'waiting'> }> {
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

    /** What runs and waits now, by agent; few, whatever the history. */
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

    /** When the newest run of each agent was created. */
    async lastOf(visible: Visible): Promise<Map<string, string>> {
      const rows = await matching({ visible, since: null })
        .select(({ fn }) => ['agent_id', fn.max('created_at').as('last')])
        .groupBy('agent_id')
        .execute()
      return new Map(rows.map(({ agent_id, last }) => [agent_id, last]))
    },

    /** Only buckets with a run; for `agent` the bucket is its id. */
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

    /** Names of deleted agents by id; with `name` only those that had it. Nowhere else do they stand. */
    async deletedAgents(name?: string): Promise<Map<string, string>> {
      const rows = await db
        .selectFrom('executions')
        .select(({ fn }) => ['agent_id', fn.max('agent_name').as('name')])
        // Written out: a bound value would keep SQLite from using the index of these rows.
        .where(({ eb, lit }) => eb('agent_deleted', '=', lit(1)))
        .$if(name !== undefined, (query) => query.where('agent_name', '=', name ?? ''))
        .groupBy('agent_id')
        .execute()
      return new Map(rows.map(({ agent_id, name }) => [agent_id, name]))
    },
  }
}

function conditions(columns: Columns, { visible, since, status, triggeredBy, search }: RunFilter) {
  return [
    ...(visible === 'all' ? [] : [isVisible(columns, visible)]),
    ...(since === null ? [] : [columns('created_at', '>=', since)]),
    ...(status === undefined ? [] : [columns('status', '=', status)]),
    ...(triggeredBy === undefined ? [] : [columns('triggered_by', '=', triggeredBy)]),
    ...(search === undefined ? [] : [isFound(columns, search)]),
  ]
}

function isVisible(columns: Columns, { agentIds, own }: Exclude<Visible, 'all'>) {
  const whole = agentIds.length === 0 ? [] : [columns('agent_id', 'in', [...agentIds])]
  if (!own || own.agentIds.length === 0) return columns.or(whole)
  const started = columns('agent_id', 'in', [...own.agentIds]).and('source_mcp_key_id', '=', own.keyId)
  return columns.or([...whole, started])
}

/** Letters of either case are alike, by the database's own rule for both sides. */
function isFound(columns: Columns, { text, reader }: { text: string; reader: MessageReader }) {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const holds = (column: 'id' | 'message') =>
    sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`
  return columns.or([holds('id'), columns.and([isReadable(columns, reader), holds('message')])])
}

/** `mayRead` of `executions` as a condition. */
function isReadable(columns: Columns, { readsAll, userId, keyId }: MessageReader) {
  if (readsAll) return columns.and([])
  return columns.or([
    columns('triggered_by', 'not in', privateTriggers),
    ...(userId === null ? [] : [columns('source_user_id', '=', userId)]),
    ...(keyId === null ? [] : [columns('source_mcp_key_id', '=', keyId)]),
  ])
}

function newestFirst<O>(query: SelectQueryBuilder<FleetTables, 'executions', O>) {
  return query.orderBy('created_at', 'desc').orderBy('queue_number', 'desc').orderBy('id', 'desc')
}

/** Counted by filters and not by groups of states: those would be read along the wrong index. */
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

/** Times are text of fixed width: their beginnings are hours and days. */
const groupings: Record<TimelineGroup, RawBuilder<string>> = {
  hour: sql`substr(created_at, 1, 13)`,
  day: sql`substr(created_at, 1, 10)`,
  trigger: sql`triggered_by`,
  agent: sql`agent_id`,
}
