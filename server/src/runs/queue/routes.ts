import { clearQueue, getQueue } from '@roost/contracts/runs/queue'
import { agentRoute, type Route } from '../../http/route.ts'
import { readerOf } from '../executions/index.ts'
import type { Queue } from './service.ts'

export function queueRoutes(queue: Queue): Route[] {
  return [
    agentRoute(getQueue, (call) => queue.show(readerOf(call), call.agent.name)),
    agentRoute(clearQueue, async (call) => {
      const cancelled = await queue.clear(call.agent.id, call.caller)
      call.request.note({ cancelled })
      return { agent_name: call.agent.name, cancelled }
    }),
  ]
}
