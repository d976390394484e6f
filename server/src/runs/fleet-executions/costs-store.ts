import type { CostGrouping } from '@roost/contracts/runs/costs'
import { type RawBuilder, sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { ExecutionRow } from '../executions/index.ts'
import type { DayTotal, KeyTotal, MonthTotals } from './costs-rules.ts'
import { conditions, type FleetTables, type RunFilter } from './store.ts'

/**
 * Sums over runs with a cost. The index `executions_costs` covers them. For few agents a database may find the runs in
 * `executions_figures` instead, and read rows for models and people.
 */
export function costStore(executor: Executor) {
  const db = executor.withTables<FleetTables>()
  const withCost = (filter: RunFilter) =>
    db
      .selectFrom('executions')
      // A literal: SQLite does not use the partial index for a bound value.
      .where((columns) =>
        columns.and([...conditions(columns, filter), columns('cost_micros', '>', columns.lit(0))]),
      )

  return {
    async byKey(filter: RunFilter, group: CostGrouping): Promise<KeyTotal[]> {
      return withCost(filter)
        .select(({ fn }) => [
          keys[group].as('key'),
          spent.as('micros'),
          estimated.as('estimated'),
          fn.countAll<number>().as('runs'),
        ])
        .groupBy('key')
        .execute()
    },

    /** By UTC day and key. With `shown`, all other keys have one row per day, with the key null. */
    async byDay(
      filter: RunFilter,
      group: CostGrouping,
      shown: readonly string[] | null,
    ): Promise<DayTotal[]> {
      const key = keys[group]
      const column =
        shown === null
          ? key
          : shown.length === 0
            ? sql<null>`null`
            : sql<string | null>`case when ${key} in (${sql.join([...shown])}) then ${key} end`
      return withCost(filter)
        .select([sql<string>`substr(created_at, 1, 10)`.as('day'), column.as('key'), spent.as('micros')])
        .groupBy(['day', 'key'])
        .execute()
    },

    /** The most expensive runs first; of equal ones the newest. */
    async dearest(filter: RunFilter, limit: number): Promise<ExecutionRow[]> {
      const found = withCost(filter)
        .select('id')
        .orderBy('cost_micros', 'desc')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
      return db
        .selectFrom('executions')
        .selectAll()
        .where('id', 'in', found)
        .orderBy('cost_micros', 'desc')
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
    },

    /** Totals since the start of the month and since a week ago. */
    async month(
      visible: RunFilter['visible'],
      starts: { month: string; week: string },
    ): Promise<MonthTotals> {
      const { month, week } = starts
      const since = month < week ? month : week
      return withCost({ visible, since })
        .select([
          sumSince(month).as('month_micros'),
          sql<number>`coalesce(max(case when created_at >= ${month} then cost_estimated else 0 end), 0)`.as(
            'estimated',
          ),
          sumSince(week).as('week_micros'),
          sql<string | null>`min(case when created_at >= ${week} then created_at end)`.as('first_of_week'),
        ])
        .executeTakeFirstOrThrow()
    },

    /** In micro-dollars. */
    async total(filter: RunFilter): Promise<{ micros: number; estimated: number }> {
      return withCost(filter)
        .select([spent.as('micros'), estimated.as('estimated')])
        .executeTakeFirstOrThrow()
    },
  }
}

const spent = sql<number>`coalesce(sum(cost_micros), 0)`
const estimated = sql<number>`coalesce(max(cost_estimated), 0)`

function sumSince(since: string) {
  return sql<number>`coalesce(sum(case when created_at >= ${since} then cost_micros else 0 end), 0)`
}

/** Tags belong to agents, so their costs are read by agent. An empty key stands for a missing value. */
const keys: Record<CostGrouping, RawBuilder<string>> = {
  agent: sql`agent_id`,
  model: sql`coalesce(model_used, '')`,
  person: sql`coalesce(source_user_id, '')`,
  trigger: sql`triggered_by`,
  tag: sql`agent_id`,
}
