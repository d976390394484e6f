import {
  getExecution,
  getExecutionLog,
  listAgentExecutions,
  listRunningExecutions,
  streamExecution,
  terminateExecution,
} from '@roost/contracts/runs/executions'
import {
  getAnyExecution,
  getAnyExecutionLog,
  streamAnyExecution,
} from '@roost/contracts/runs/fleet-executions'
import {
  type AgentCall,
  agentRoute,
  answer,
  type Call,
  type Route,
  type SignedInCall,
  signedInRoute,
  streamAnswer,
} from '../../http/route.ts'
import type { Log } from '../../ports/log.ts'
import { mayRead } from './rules.ts'
import type { Executions, Reader, RunReader } from './service.ts'
import { executionEvents, resumeAfter, streamHeaders } from './stream.ts'

export function executionRoutes(executions: Executions, log: Pick<Log, 'error'>): Route[] {
  async function logOf(reader: RunReader, { params, request }: OneRun) {
    const text = await executions.log(reader, params.id, request.signal)
    return streamAnswer('application/json; charset=utf-8', text)
  }

  async function streamOf(reader: RunReader, { params, query, request }: FollowedRun) {
    const row = await executions.find(reader, params.id)
    const isShown = mayRead(reader.caller, row)
    // For example, an admin who is demoted may no longer read the private conversations of others.
    request.endUnless((caller) => !isShown || (caller.kind !== 'anonymous' && mayRead(caller, row)))
    const events = executionEvents(executions.watch, row.id, {
      after: resumeAfter(request.header('last-event-id'), query.after),
      partials: query.partials,
      isShown,
      signal: request.signal,
      log,
    })
    const headers = { ...streamHeaders, 'x-execution-id': row.id }
    return streamAnswer('text/event-stream', events, { headers })
  }

  return [
    agentRoute(listAgentExecutions, async (call) => {
      const { rows, total } = await executions.list(readerOf(call), call.query)
      return answer(rows, { headers: { 'x-total-count': String(total) } })
    }),
    agentRoute(listRunningExecutions, (call) => executions.running(readerOf(call))),
    agentRoute(getExecution, (call) => executions.details(readerOf(call), call.params.id)),
    agentRoute(getExecutionLog, (call) => logOf(readerOf(call), call)),
    agentRoute(terminateExecution, async (call) => {
      const reply = await executions.terminate(readerOf(call), call.params.id)
      call.request.note({ execution_id: reply.execution_id, outcome: reply.status })
      return reply
    }),
    agentRoute(streamExecution, (call) => streamOf(readerOf(call), call)),
    signedInRoute(getAnyExecution, (call) => executions.details(adminOf(call), call.params.id)),
    signedInRoute(getAnyExecutionLog, (call) => logOf(adminOf(call), call)),
    signedInRoute(streamAnyExecution, (call) => streamOf(adminOf(call), call)),
  ]
}

type OneRun = { params: { id: string }; request: Call<unknown>['request'] }
type FollowedRun = OneRun & { query: { after: number; partials: boolean } }

/** These endpoints admit only admins, who see every run. */
function adminOf({ caller }: Pick<SignedInCall<unknown>, 'caller'>): RunReader {
  return { caller, agentId: null, relation: 'admin' }
}

export function readerOf(call: Pick<AgentCall<unknown>, 'caller' | 'agent' | 'relation'>): Reader {
  return { caller: call.caller, agentId: call.agent.id, relation: call.relation }
}
