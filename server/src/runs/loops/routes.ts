import { getLoop, listLoops, startLoop, stopLoop } from '@roost/contracts/runs/loops'
import { agentRoute, answer, type Route, signedInRoute } from '../../http/route.ts'
import { readerOf } from '../executions/index.ts'
import type { Loops } from './service.ts'

export function loopRoutes(loops: Pick<Loops, 'startOnce' | 'list' | 'find' | 'stop'>): Route[] {
  return [
    agentRoute(startLoop, async (call) => {
      const { request, body, agent } = call
      const party = { ...readerOf(call), agentName: agent.name }
      const reply = await loops.startOnce(party, body, request.header('idempotency-key'))
      request.note({ max_runs: body.max_runs, replayed: reply.replayed })
      const headers: Record<string, string> = reply.replayed ? { 'x-idempotent-replay': 'true' } : {}
      return answer(reply.body, { status: reply.status, headers })
    }),
    agentRoute(listLoops, (call) => loops.list(readerOf(call), call.query)),
    signedInRoute(getLoop, ({ caller, params }) => loops.find(caller, params.loop_id)),
    signedInRoute(stopLoop, async ({ caller, params: { loop_id }, request }) => {
      const status = await loops.stop(caller, loop_id)
      request.note({ loop_id, outcome: status })
      return { loop_id, status }
    }),
  ]
}
