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
      const evaluation = await evaluations.create(call.agent, call.body, call.caller.user.username)
      call.request.note({
        evaluation_id: evaluation.id,
        score: evaluation.score,
        execution_id: evaluation.execution_id,
      })
      return evaluation
    }),
  ]
}
