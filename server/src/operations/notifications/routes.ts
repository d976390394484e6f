import {
  acknowledgeNotification,
  countNotifications,
  createNotification,
  dismissNotification,
  dismissNotifications,
  listAgentNotifications,
  listNotifications,
  type NotificationsQuery,
} from '@roost/contracts/operations/notifications'
import type { AgentAccess } from '../../agents/access/index.ts'
import { agentRoute, answer, type Route, signedInRoute } from '../../http/route.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { Notifications } from './service.ts'

export function notificationRoutes(
  notifications: Notifications,
  agentAccess: Pick<AgentAccess, 'resolveAgent'>,
): Route[] {
  async function list(caller: SignedIn, query: NotificationsQuery) {
    const { notifications: page, total } = await notifications.list(caller, query)
    const headers = { 'x-total-count': String(total) }
    return answer({ count: page.length, notifications: page }, { headers })
  }

  /** The agent of the calling key; a person must name an agent. */
  async function subjectOf(caller: SignedIn, agentName: string | undefined): Promise<string> {
    const callingAgent = caller.kind === 'key' && caller.key.scope === 'agent' ? caller.key.agent_id : null
    if (agentName === undefined) {
      if (callingAgent !== null) return callingAgent
      throw invalidField(['agent_name'], 'is required: a person names the agent that it is about', 'missing')
    }
    const found = await agentAccess.resolveAgent(caller, agentName)
    if (!found) throw new Fault('agent_not_found')
    if (callingAgent !== null && callingAgent !== found.agent.id) throw new Fault('agent_identity_required')
    return found.agent.id
  }

  return [
    signedInRoute(createNotification, async (call) => {
      const { agent_name, ...body } = call.body
      const sent = await notifications.send(await subjectOf(call.caller, agent_name ?? undefined), body)
      call.request.note({ notification_id: sent.id, agent_name: sent.agent_name })
      return sent
    }),
    signedInRoute(listNotifications, (call) => list(call.caller, call.query)),
    signedInRoute(countNotifications, async (call) => ({
      status: call.query.status,
      count: await notifications.count(call.caller, call.query),
    })),
    signedInRoute(dismissNotifications, async (call) => {
      const dismissed = await notifications.dismissAll(call.caller, call.body.agent_name ?? undefined)
      call.request.note({ dismissed })
      return { dismissed }
    }),
    signedInRoute(acknowledgeNotification, (call) => notifications.acknowledge(call.caller, call.params.id)),
    signedInRoute(dismissNotification, (call) => notifications.dismiss(call.caller, call.params.id)),
    agentRoute(listAgentNotifications, (call) =>
      list(call.caller, { ...call.query, agent_name: call.agent.name }),
    ),
  ]
}
