import {
  getExecution,
  getExecutionLog,
  listAgentExecutions,
  listRunningExecutions,
  streamExecution,
  terminateExecution,
} from '@roost/contracts/runs/executions'
import { type AgentCall, agentRoute, answer, type Route, streamAnswer } from '../../http/route.ts'
import type { Log } from '../../ports/log.ts'
import { mayRead } from './rules.ts'
import type { Executions, Reader } from './service.ts'
import { executionEvents, resumeAfter, streamHeaders } from './stream.ts'

export function executionRoutes(executions: Executions, log: Pick<Log, 'error'>): Route[] {
  return [
    agentRoute(listAgentExecutions, async (call) => {
      const { rows, total } = await executions.list(readerOf(call), call.query)
      return answer(rows, { headers: { 'x-total-count': String(total) } })
    }),
    agentRoute(listRunningExecutions, (call) => executions.running(readerOf(call))),
    agentRoute(getExecution, (call) => executions.details(readerOf(call), call.params.id)),
    agentRoute(getExecutionLog, async (call) => {
      const text = await executions.log(readerOf(call), call.params.id, call.request.signal)
      return streamAnswer('application/json; charset=utf-8', text)
    }),
    agentRoute(terminateExecution, async (call) => {
      const reply = await executions.terminate(readerOf(call), call.params.id)
      call.request.note({ execution_id: reply.execution_id, outcome: reply.status })
      return reply
    }),
    agentRoute(streamExecution, async (call) => {
      const row = await executions.find(readerOf(call), call.params.id)
      const events = executionEvents(executions.watch, row.id, {
        after: resumeAfter(call.request.header('last-event-id'), call.query.after),
        partials: call.query.partials,
        isShown: mayRead(call.caller, row),
        signal: call.request.signal,
        log,
      })
      return streamAnswer('text/event-stream', events, {
        headers: { ...streamHeaders, 'x-execution-id': row.id },
      })
    }),
  ]
}

export function readerOf(call: Pick<AgentCall<unknown>, 'caller' | 'agent' | 'relation'>): Reader {
  return { caller: call.caller, agentId: call.agent.id, relation: call.relation }
}
