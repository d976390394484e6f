import { runTask, timeoutDeprecation } from '@roost/contracts/runs/tasks'
import { agentRoute, answer, type Route } from '../../http/route.ts'
import { isViaMcp } from '../dispatch/index.ts'
import { readerOf } from '../executions/index.ts'
import { preferredWaitMs } from '../waiting/index.ts'
import type { Tasks } from './service.ts'

export function taskRoutes(tasks: Tasks): Route[] {
  return [
    agentRoute(runTask, async (call) => {
      const { request, body } = call
      const deprecated = body.timeout_seconds == null ? {} : timeoutDeprecation
      const task = await tasks.take({
        reader: readerOf(call),
        agentName: call.agent.name,
        body,
        viaMcp: isViaMcp(request),
        key: request.header('idempotency-key'),
      })
      if (task.replay) {
        const headers = {
          ...deprecated,
          ...executionHeader(task.replay.body),
          'x-idempotent-replay': 'true',
        }
        return answer(await tasks.replayed(task.replay), { status: task.replay.status, headers })
      }
      request.note({ execution_id: task.row.id })
      const headers = { ...deprecated, 'x-execution-id': task.row.id }
      if (body.async_mode) return answer(tasks.accepted(task), { headers })
      const preferredMs = preferredWaitMs(request.header('prefer'))
      return answer(await tasks.finished(task, { signal: request.signal, preferredMs }), { headers })
    }),
  ]
}

/** Every stored reply of this feature names its run. */
function executionHeader(body: unknown): Record<string, string> {
  const named = body as { execution_id: string }
  return { 'x-execution-id': named.execution_id }
}
