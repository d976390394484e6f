import {
  listDeletedSchedules,
  listFleetSchedules,
  pauseSchedules,
  recoverSchedule,
  resumeSchedules,
} from '@roost/contracts/triggers/schedule-admin'
import { getScheduleAnalytics, getScheduleSummary } from '@roost/contracts/triggers/schedule-analytics'
import {
  createSchedule,
  type Schedule as Described,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
  listNextRuns,
  listScheduleExecutions,
  listSchedules,
  triggerSchedule,
  updateSchedule,
} from '@roost/contracts/triggers/schedules'
import { agentRoute, answer, type Route, route, signedInRoute } from '../../http/route.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Schedules } from './service.ts'
import type { Schedule } from './store.ts'

/** Fires a schedule at the request of a caller. */
export type FireByHand = (schedule: Schedule, caller: SignedIn) => Promise<{ executionId: string }>

export function scheduleRoutes(schedules: Schedules, fire: FireByHand): Route[] {
  const viewOf = async (schedule: Schedule, agentName: string): Promise<Described> => {
    const [view] = await schedules.describe([schedule], () => agentName)
    if (!view) throw new Fault('schedule_not_found')
    return view
  }
  return [
    agentRoute(listSchedules, ({ agent }) => schedules.list(agent)),
    signedInRoute(
      createSchedule,
      async ({ caller, params, body, request }) => {
        const { agent, relation } = await schedules.agentFor(caller, params.name)
        const created = await schedules.create(agent, { caller, relation }, body)
        request.note({ schedule_id: created.id })
        return viewOf(created, agent.name)
      },
      {
        // Callers without access get 403 or 404 even if the body is invalid.
        admit: async ({ caller, params }) => {
          if (caller.kind !== 'anonymous') await schedules.agentFor(caller, params.name ?? '')
        },
      },
    ),
    agentRoute(getScheduleSummary, ({ agent, query }) => schedules.summary(agent.id, query.window)),
    agentRoute(getSchedule, async ({ agent, params }) =>
      viewOf(await schedules.find(agent, params.id), agent.name),
    ),
    agentRoute(updateSchedule, async ({ agent, caller, relation, params, body, request }) => {
      request.note({ schedule_id: params.id, fields: Object.keys(body) })
      return viewOf(await schedules.update(agent, { caller, relation }, params.id, body), agent.name)
    }),
    agentRoute(deleteSchedule, async ({ agent, params, request }) => {
      request.note({ schedule_id: params.id })
      await schedules.remove(agent, params.id)
      return undefined
    }),
    agentRoute(enableSchedule, async ({ agent, params, request }) => {
      request.note({ schedule_id: params.id })
      const { id } = await schedules.setEnabled(agent, params.id, true)
      return { status: 'enabled' as const, schedule_id: id }
    }),
    agentRoute(disableSchedule, async ({ agent, params, request }) => {
      request.note({ schedule_id: params.id })
      const { id } = await schedules.setEnabled(agent, params.id, false)
      return { status: 'disabled' as const, schedule_id: id }
    }),
    agentRoute(triggerSchedule, async ({ agent, caller, params, request }) => {
      const schedule = await schedules.find(agent, params.id)
      const { executionId } = await fire(schedule, caller)
      request.note({ schedule_id: schedule.id, execution_id: executionId })
      return {
        status: 'triggered' as const,
        schedule_id: schedule.id,
        execution_id: executionId,
        schedule_name: schedule.name,
        agent_name: agent.name,
        message: `Schedule "${schedule.name}" was triggered.`,
      }
    }),
    agentRoute(listScheduleExecutions, async ({ agent, caller, relation, params, query }) => {
      const { rows, total } = await schedules.executions(agent, { caller, relation }, params.id, query)
      return answer(rows, { headers: { 'x-total-count': String(total) } })
    }),
    agentRoute(getScheduleAnalytics, ({ agent, params, query }) =>
      schedules.analytics(agent.id, params.id, query.window_hours),
    ),
    agentRoute(listNextRuns, async ({ agent, params, query }) => {
      const schedule = await schedules.find(agent, params.id)
      const next = schedules.upcoming(schedule, query.count).map((time) => time.toISOString())
      return { schedule_id: schedule.id, timezone: schedule.timezone, next }
    }),
    ...adminRoutes(schedules, viewOf),
  ]
}

function adminRoutes(
  { admin }: Pick<Schedules, 'admin'>,
  viewOf: (schedule: Schedule, agentName: string) => Promise<Described>,
): Route[] {
  return [
    route(listDeletedSchedules, () => admin.deleted()),
    route(recoverSchedule, async ({ params, request }) => {
      request.note({ schedule_id: params.id })
      const { schedule, agentName } = await admin.recover(params.id)
      return viewOf(schedule, agentName)
    }),
    signedInRoute(listFleetSchedules, ({ caller, query }) =>
      admin.fleet(caller, { agentName: query.agent_name, enabledOnly: query.enabled_only }),
    ),
    route(pauseSchedules, async ({ body }) => {
      const count = await admin.pause(body.agent_name ?? null)
      return { success: true as const, message: `${count} schedules were paused.`, paused_count: count }
    }),
    route(resumeSchedules, async ({ body }) => {
      const count = await admin.resume(body.agent_name ?? null)
      return { success: true as const, message: `${count} schedules were resumed.`, resumed_count: count }
    }),
  ]
}
