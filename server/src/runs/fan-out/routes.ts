import { getFanOut, startFanOut } from '@roost/contracts/runs/fan-out'
import { agentRoute, answer, type Route } from '../../http/route.ts'
import { readerOf } from '../executions/index.ts'
import { type FanOuts, receipt } from './service.ts'

export function fanOutRoutes(fanOuts: Pick<FanOuts, 'startOnce' | 'wait' | 'find'>): Route[] {
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
      return fanOuts.wait(started, claim, request.signal)
    }),
    agentRoute(getFanOut, (call) => fanOuts.find(readerOf(call), call.params.fan_out_id)),
  ]
}
