import type { DueReminder, ScheduleChange } from '@roost/contracts/triggers/firing'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Schedules } from '../schedules/index.ts'

const pageRows = 200

/** The feed of the scheduler: schedules that changed after a position, and the next reminders. */
export function createFeed(deps: {
  schedules: Pick<Schedules, 'changesAfter'>
  agentRecords: Pick<AgentRecords, 'byId'>
  /** Pending reminders of the next minute, soonest first. */
  dueReminders(limit: number): Promise<DueReminder[]>
}) {
  return async function changesAfter(
    after: number,
  ): Promise<{ position: number; schedules: ScheduleChange[]; reminders: DueReminder[] }> {
    const [rows, reminders] = await Promise.all([
      deps.schedules.changesAfter(after, pageRows),
      deps.dueReminders(pageRows),
    ])
    const schedules: ScheduleChange[] = []
    for (const row of rows) {
      const agent = await deps.agentRecords.byId(row.agent_id)
      schedules.push({
        id: row.id,
        agent_id: row.agent_id,
        agent_name: agent?.name ?? '',
        name: row.name,
        cron_expression: row.cron_expression,
        timezone: row.timezone,
        misfire_policy: row.misfire_policy,
        armed_at: row.armed_at,
        active: row.enabled === 1 && row.deleted_at === null,
        position: row.position,
      })
    }
    return { position: rows.at(-1)?.position ?? after, schedules, reminders }
  }
}
