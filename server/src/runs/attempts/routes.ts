import {
  cancelAttempts,
  deleteAttempts,
  discardAttempts,
  getAttempts,
  keepAttempt,
  listAttempts,
  startAttempts,
} from '@roost/contracts/runs/attempts'
import { agentRoute, type Route } from '../../http/route.ts'
import { isViaMcp } from '../dispatch/index.ts'
import type { Attempts } from './service.ts'

export function attemptRoutes(attempts: Attempts): Route[] {
  return [
    agentRoute(startAttempts, async ({ caller, agent, body, request }) => {
      const set = await attempts.start(caller, agent, body, isViaMcp(request))
      request.note({ attempt_set: set.id, attempts: set.total, max_cost_usd: set.max_cost_usd })
      return set
    }),
    agentRoute(listAttempts, ({ agent, query }) => attempts.list(agent, query)),
    agentRoute(getAttempts, ({ agent, params }) => attempts.get(agent, params.set)),
    agentRoute(keepAttempt, ({ caller, agent, params, body, request }) => {
      request.note({ attempt_set: params.set, attempt: body.attempt, on_conflict: body.on_conflict })
      return attempts.keep(caller, agent, params.set, body)
    }),
    agentRoute(cancelAttempts, ({ agent, params, request }) => {
      request.note({ attempt_set: params.set })
      return attempts.cancel(agent, params.set)
    }),
    agentRoute(discardAttempts, ({ agent, params, request }) => {
      request.note({ attempt_set: params.set })
      return attempts.discard(agent, params.set)
    }),
    agentRoute(deleteAttempts, async ({ agent, params, request }) => {
      request.note({ attempt_set: params.set })
      await attempts.remove(agent, params.set)
      return { message: 'The set of attempts was deleted.' }
    }),
  ]
}
