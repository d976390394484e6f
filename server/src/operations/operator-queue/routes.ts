import { acknowledgeAlert, listAlerts } from '@roost/contracts/operations/alerts'
import {
  askOperator,
  cancelItem,
  clearResolvedItems,
  getAsk,
  getQueueItem,
  getQueueStats,
  listAgentQueue,
  listQueue,
  respondToItem,
} from '@roost/contracts/operations/operator-queue'
import { bulkCancelItems, bulkRespondToItems } from '@roost/contracts/operations/queue-bulk'
import type { AgentAccess } from '../../agents/access/index.ts'
import { agentRoute, answer, type Route, route, signedInRoute } from '../../http/route.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { OperatorQueue } from './service.ts'

export function operatorQueueRoutes(
  queue: OperatorQueue,
  agentAccess: Pick<AgentAccess, 'resolveAgent'>,
): Route[] {
  const { view, asks, resolve } = queue

  return [
    // Static paths come before ids.
    signedInRoute(listQueue, (call) => view.list(call.caller, call.query)),
    signedInRoute(getQueueStats, (call) => view.stats(call.caller)),
    signedInRoute(bulkRespondToItems, async (call) => {
      const { user } = call.caller
      const { ids, ...answer } = call.body
      const by = { id: user.id, email: user.email }
      const done = await queue.answer.all(await view.scopeOf(call.caller), ids, answer, by)
      call.request.note(done)
      return done
    }),
    signedInRoute(bulkCancelItems, async (call) => {
      const { ids, reason } = call.body
      const done = await resolve.cancelAll(await view.ownScopeOf(call.caller), ids, reason)
      call.request.note(done)
      return done
    }),
    signedInRoute(clearResolvedItems, async (call) => {
      const name = call.body.agent_name ?? undefined
      const found = name === undefined ? null : await agentAccess.resolveAgent(call.caller, name)
      if (name !== undefined && !found) throw new Fault('agent_not_found')
      const cleared = await resolve.clear(await view.ownScopeOf(call.caller), found?.agent.id)
      call.request.note({ cleared })
      return { cleared }
    }),
    signedInRoute(getQueueItem, (call) => view.item(call.caller, call.params.id)),
    signedInRoute(respondToItem, async (call) => {
      const { id } = await view.find(call.caller, call.params.id)
      const { user } = call.caller
      const row = await queue.answer.one(id, call.body, { id: user.id, email: user.email })
      return view.viewOf(row)
    }),
    signedInRoute(cancelItem, async (call) => {
      const row = await view.findOwn(call.caller, call.params.id)
      return view.viewOf(await resolve.cancel(row, call.body.reason))
    }),
    agentRoute(askOperator, async (call) => {
      const { item, isNew } = await asks.ask(call, call.body)
      call.request.note({ item_id: item.id, request_id: call.body.request_id })
      return answer(item, { status: isNew ? 201 : 200 })
    }),
    agentRoute(listAgentQueue, (call) =>
      view.list(call.caller, { ...call.query, agent_name: call.agent.name }),
    ),
    agentRoute(getAsk, (call) => asks.read(call, call.params.request_id)),
  ]
}

export function alertRoutes({ alerts, view }: OperatorQueue, clock: Pick<Clock, 'now'>): Route[] {
  return [
    route(listAlerts, async ({ query }) => {
      const found = await alerts.list(query)
      return { timestamp: timestamp(clock.now()), alerts: found, count: found.length }
    }),
    signedInRoute(acknowledgeAlert, async ({ caller, params, request }) => {
      const row = await view.findOwn(caller, params.id)
      if (row.source !== 'platform') throw new Fault('not_found', 'There is no such alert.')
      request.note({ kind: row.kind })
      const { user } = caller
      return alerts.acknowledge(row, { id: user.id, email: user.email })
    }),
  ]
}
