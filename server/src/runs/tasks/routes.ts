import type { TaskBody } from '@roost/contracts/runs/tasks'
import { runTask, timeoutDeprecation } from '@roost/contracts/runs/tasks'
import { preferredWaitMs, prefersMinimal } from '../../http/prefer.ts'
import {
  type AgentCall,
  type Answer,
  agentRoute,
  answer,
  type RequestInfo,
  type Route,
  type StreamAnswer,
  streamAnswer,
} from '../../http/route.ts'
import { isViaMcp } from '../dispatch/index.ts'
import { readerOf } from '../executions/index.ts'
import { isSuccess } from './reply.ts'
import type { Tasks } from './service.ts'

export function taskRoutes(tasks: Tasks): Route[] {
  return [
    agentRoute(runTask, (call) => {
      const deprecated = call.body.timeout_seconds == null ? {} : timeoutDeprecation
      return answerTask(tasks, call, call.body, deprecated)
    }),
  ]
}

/** Accepts a task and answers immediately or after its end, as the caller requested. */
export async function answerTask(
  tasks: Tasks,
  { request, agent, ...call }: Pick<AgentCall<typeof runTask>, 'request' | 'agent' | 'caller' | 'relation'>,
  body: TaskBody,
  extra: Record<string, string> = {},
): Promise<Answer | StreamAnswer> {
  const task = await tasks.accept({
    reader: readerOf({ ...call, agent }),
    agentName: agent.name,
    body,
    viaMcp: isViaMcp(request),
    key: request.header('idempotency-key'),
  })
  if (task.replay) {
    const headers = { ...extra, ...executionHeader(task.replay.body), 'x-idempotent-replay': 'true' }
    const replayed = await tasks.replayed(task.replay)
    return answerWithTranscript(tasks, request, replayed, { status: task.replay.status, headers })
  }
  request.note({ execution_id: task.row.id })
  const headers = { ...extra, 'x-execution-id': task.row.id }
  if (body.async_mode) return answer(tasks.accepted(task), { headers })
  const preferredMs = preferredWaitMs(request.header('prefer'))
  const reply = await tasks.finished(task, { signal: request.signal, preferredMs })
  return answerWithTranscript(tasks, request, reply, { headers })
}

/** The response with its streamed transcript, or without it for `Prefer: return=minimal`. */
function answerWithTranscript(
  tasks: Tasks,
  request: RequestInfo,
  body: unknown,
  extra: { status?: number; headers: Record<string, string> },
): Answer | StreamAnswer {
  if (!isSuccess(body)) return answer(body, extra)
  if (!prefersMinimal(request.header('prefer')))
    return streamAnswer('application/json; charset=utf-8', tasks.text(body, request.signal), extra)
  return answer(body, { ...extra, headers: { ...extra.headers, 'preference-applied': 'return=minimal' } })
}

/** Every stored response of this feature has the id of its run. */
function executionHeader(body: unknown): Record<string, string> {
  const named = body as { execution_id: string }
  return { 'x-execution-id': named.execution_id }
}
