import * as endpoints from '@roost/contracts/triggers/firing'
import type { AgentRecords } from '../../agents/records/index.ts'
import { agentRoute, type Route, route, signedInRoute } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import type { Schedules } from '../schedules/index.ts'
import type { createFeed } from './changes.ts'
import type { Execute } from './execute.ts'
import type { Firing } from './service.ts'

export function firingRoutes({
  firing,
  schedules,
}: {
  firing: Firing
  schedules: Pick<Schedules, 'find'>
}): Route[] {
  return [
    signedInRoute(endpoints.getSchedulerStatus, () => firing.schedulerStatus()),
    agentRoute(endpoints.listFires, async ({ agent, params, query }) => {
      await schedules.find(agent, params.id)
      return firing.fires(params.id, query.limit)
    }),
  ]
}

export function internalFiringRoutes(deps: {
  firing: Firing
  execute: Execute
  changesAfter: ReturnType<typeof createFeed>
  agentRecords: Pick<AgentRecords, 'byName'>
}): Route[] {
  const { firing, execute } = deps
  return [
    route(endpoints.executeTask, async ({ body, request, caller, isPlatform }) => {
      const call = { key: request.header('idempotency-key'), signal: request.signal }
      return isPlatform ? execute.asPlatform(body, call) : execute.asAgent(caller, body, call)
    }),
    route(endpoints.executeTasks, ({ body }) => execute.allAsPlatform(body)),
    route(endpoints.scheduleChanges, ({ query }) => deps.changesAfter(query.after)),
    route(endpoints.preCheckAgent, async ({ params }) => {
      const agent = await deps.agentRecords.byName(params.n)
      if (!agent) throw new Fault('agent_not_found')
      return firing.askPreCheck(agent)
    }),
    route(endpoints.validateExecution, async ({ body }) => ({
      status: 'accepted' as const,
      validation_execution_id: await firing.validate(body.execution_id),
    })),
  ]
}
