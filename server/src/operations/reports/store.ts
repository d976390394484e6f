import type { DisplayHint, ReportAudience } from '@roost/contracts/operations/reports'
import type { Executor } from '../../ports/database/port.ts'

export type ReportRow = {
  id: string
  agent_id: string
  report_type: string
  title: string
  display_hint: DisplayHint | null
  period_start: string | null
  period_end: string | null
  audience: ReportAudience
  execution_id: string | null
  created_at: string
  payload_bytes: number
  /** JSON. */
  payload: string
}

/** A rating by a person in the Workspace. */
type ReportRatingRow = {
  report_id: string
  /** The person, as in conversations of the Workspace. */
  holder_id: string
  rating: 'up' | 'down'
  comment: string | null
  rated_at: string
}

type ReportTables = { agent_reports: ReportRow; agent_report_ratings: ReportRatingRow }

export type SummaryRow = Omit<ReportRow, 'payload'>
/** Undefined fields match every report. */
export type ReportFilter = { report_type?: string | undefined; audience?: ReportAudience | undefined }

const summary = [
  'id',
  'agent_id',
  'report_type',
  'title',
  'display_hint',
  'period_start',
  'period_end',
  'audience',
  'execution_id',
  'created_at',
  'payload_bytes',
] as const satisfies readonly (keyof SummaryRow)[]

/** The only SQL about reports. `agentIds` are the agents that the viewer can access. */
export function reportStore(executor: Executor) {
  const db = executor.withTables<ReportTables>()

  const matching = (agentIds: readonly string[], { report_type, audience }: ReportFilter) => {
    const query = db.selectFrom('agent_reports').where('agent_id', 'in', [...agentIds])
    const typed = report_type === undefined ? query : query.where('report_type', '=', report_type)
    return audience === undefined ? typed : typed.where('audience', '=', audience)
  }

  return {
    async insert(row: ReportRow): Promise<void> {
      await db.insertInto('agent_reports').values(row).execute()
    },

    async visible(
      agentIds: readonly string[],
      id: string,
      audience?: ReportAudience,
    ): Promise<ReportRow | null> {
      if (agentIds.length === 0) return null
      const row = await matching(agentIds, { audience }).selectAll().where('id', '=', id).executeTakeFirst()
      return row ?? null
    },

    async list(
      agentIds: readonly string[],
      filter: ReportFilter,
      page: { limit: number; offset: number },
    ): Promise<SummaryRow[]> {
      if (agentIds.length === 0) return []
      return matching(agentIds, filter)
        .select(summary)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .limit(page.limit)
        .offset(page.offset)
        .execute()
    },

    async count(agentIds: readonly string[], filter: ReportFilter): Promise<number> {
      if (agentIds.length === 0) return 0
      const row = await matching(agentIds, filter)
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    // ── ratings ──
    async rate({ report_id, holder_id, ...rest }: ReportRatingRow): Promise<void> {
      await db
        .insertInto('agent_report_ratings')
        .values({ report_id, holder_id, ...rest })
        .onConflict((c) => c.columns(['report_id', 'holder_id']).doUpdateSet(rest))
        .execute()
    },
    async unrate(reportId: string, holderId: string): Promise<void> {
      await db
        .deleteFrom('agent_report_ratings')
        .where('report_id', '=', reportId)
        .where('holder_id', '=', holderId)
        .execute()
    },
    async ratings(reportId: string): Promise<Pick<ReportRatingRow, 'holder_id' | 'rating'>[]> {
      return db
        .selectFrom('agent_report_ratings')
        .select(['holder_id', 'rating'])
        .where('report_id', '=', reportId)
        .execute()
    },

    async figures(agentIds: readonly string[]) {
      if (agentIds.length === 0) return []
      const rows = await matching(agentIds, {})
        .select(['agent_id', 'report_type'])
        .select((e) => e.fn.countAll<number>().as('total'))
        .groupBy(['agent_id', 'report_type'])
        .execute()
      return rows.map((row) => ({ ...row, total: Number(row.total) }))
    },

    async countAll(): Promise<number> {
      const row = await db
        .selectFrom('agent_reports')
        .select((e) => e.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    async countBefore(before: string): Promise<number> {
      const row = await db
        .selectFrom('agent_reports')
        .select((e) => e.fn.countAll<number>().as('total'))
        .where('created_at', '<', before)
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    async removeBefore(before: string, limit: number): Promise<number> {
      const expired = db
        .selectFrom('agent_reports')
        .select('id')
        .where('created_at', '<', before)
        .limit(limit)
      const result = await db.deleteFrom('agent_reports').where('id', 'in', expired).executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}
