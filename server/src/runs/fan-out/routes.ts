import { getFanOut, startFanOut } from '@roost/contracts/runs/fan-out'
import { type Keepalive, keepingAlive } from '../../http/keepalive.ts'
import { agentRoute, answer, type Route } from '../../http/route.ts'
import { readerOf } from '../executions/index.ts'
import { type FanOuts, receipt } from './service.ts'

export function fanOutRoutes(
  fanOuts: Pick<FanOuts, 'startOnce' | 'wait' | 'find'>,
  keepalive: Keepalive,
): Route[] {
  return [
    agentRoute(startFanOut, async (call) => {
      const { request, body } = call
      const entered = await fanOuts.startOnce(readerOf(call), body, request.header('idempotency-key'))
      if (entered.replay) {
        return answer(entered.replay.body, { headers: { 'x-idempotent-replay': 'true' } })
      }
      const { accepted: started, claim } = entered
      request.note({ fan_out_id: started.fanOut.id, tasks: body.tasks.length })
      if (body.async_mode) return receipt(started)
      // An accepted fan-out always ends with 200: failed tasks are part of the result.
      return keepingAlive(fanOuts.wait(started, claim, request.signal), keepalive)
    }),
    agentRoute(getFanOut, (call) => fanOuts.find(readerOf(call), call.params.fan_out_id)),
  ]
}
