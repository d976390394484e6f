import type { FleetReport } from '@roost/contracts/skills/library'
import type { Executor } from '../../ports/database/port.ts'

/** The newest report only, under the id `last`. */
type FleetReportsTable = { id: string; report: string; written_at: string }

export function fleetReportStore(executor: Executor) {
  const db = executor.withTables<{ skill_fleet_reports: FleetReportsTable }>()
  return {
    async last(): Promise<FleetReport | null> {
      const row = await db.selectFrom('skill_fleet_reports').select('report').executeTakeFirst()
      // Written below only.
      return row ? (JSON.parse(row.report) as FleetReport) : null
    },
    async write(report: FleetReport, written_at: string): Promise<void> {
      const values = { report: JSON.stringify(report), written_at }
      await db
        .insertInto('skill_fleet_reports')
        .values({ id: 'last', ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute()
    },
  }
}
