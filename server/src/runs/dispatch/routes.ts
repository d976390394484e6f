import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { reportExecutionResult } from '@roost/contracts/runs/executions'
import { clearQueue, getQueue } from '@roost/contracts/runs/queue'
import { agentRoute, type Route } from '../../http/route.ts'
import { type Executions, readerOf } from '../executions/index.ts'
import type { Queue } from './queue.ts'
import type { Dispatch } from './service.ts'

export function dispatchRoutes(
  dispatch: Pick<Dispatch, 'report'>,
  executions: Pick<Executions, 'find'>,
): Route[] {
  return [
    agentRoute(reportExecutionResult, async (call) => {
      const { id } = await executions.find(readerOf(call), call.params.id)
      const { execution_log, ...result } = call.body
      // Lines have any shape beyond their type, as over the link.
      const log = (execution_log ?? []) as unknown as TranscriptLine[]
      return dispatch.report(call.agent.id, { ...result, execution_id: id, last_line: log.length }, log)
    }),
  ]
}

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
