import { createEvaluation, listEvaluations } from '@roost/contracts/operations/evaluations'
import { agentRoute, answer, type Route } from '../../http/route.ts'
import type { Evaluations } from './service.ts'

export function evaluationRoutes(evaluations: Evaluations): Route[] {
  return [
    agentRoute(listEvaluations, async (call) => {
      const { evaluations: page, total } = await evaluations.list(call.agent, call.query)
      return answer(page, { headers: { 'x-total-count': String(total) } })
    }),
    agentRoute(createEvaluation, async (call) => {
      const made = await evaluations.create(call.agent, call.body, call.caller.user.username)
      call.request.note({ evaluation_id: made.id, score: made.score, execution_id: made.execution_id })
      return made
    }),
  ]
}
