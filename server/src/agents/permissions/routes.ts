import {
  getPermissions,
  grantPermission,
  listPermissionEdges,
  putPermissions,
  withdrawPermission,
} from '@roost/contracts/agents/permissions'
import { type AgentCall, agentRoute, type Route, signedInRoute } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import type { Grantor, Permissions } from './service.ts'

export function permissionRoutes(
  permissions: Permissions,
  agentRecords: Pick<AgentRecords, 'byId'>,
): Route[] {
  const grantorOf = async ({
    agent,
    caller,
  }: Pick<AgentCall<unknown>, 'agent' | 'caller'>): Promise<Grantor> => ({
    caller,
    source: await requireAgent(agentRecords, agent.id),
  })
  return [
    signedInRoute(listPermissionEdges, async ({ caller }) => ({ edges: await permissions.edges(caller) })),
    agentRoute(getPermissions, async (call) =>
      permissions.row(await requireAgent(agentRecords, call.agent.id), call),
    ),
    agentRoute(putPermissions, async (call) => {
      const grantor = await grantorOf(call)
      const permitted_count = await permissions.replace(grantor, call.body.permitted_agents)
      call.request.note({ permitted_agents: call.body.permitted_agents })
      return { status: 'updated' as const, source_agent: grantor.source.name, permitted_count }
    }),
    agentRoute(grantPermission, async (call) => {
      const grantor = await grantorOf(call)
      call.request.note({ target_agent: call.params.target.slice(0, 100) })
      const target_agent = await permissions.grant(grantor, call.params.target)
      return { status: 'granted' as const, source_agent: grantor.source.name, target_agent }
    }),
    agentRoute(withdrawPermission, async (call) => {
      const grantor = await grantorOf(call)
      call.request.note({ target_agent: call.params.target.slice(0, 100) })
      const target_agent = await permissions.withdraw(grantor, call.params.target)
      return { status: 'withdrawn' as const, source_agent: grantor.source.name, target_agent }
    }),
  ]
}
