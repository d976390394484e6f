import {
  createAgent,
  deleteAgent,
  getAgent,
  getAgentInfo,
  getAgentLogs,
  getLabel,
  listAgents,
  putLabel,
  renameAgent,
} from '@roost/contracts/agents/registry'
import {
  addAgentTag,
  getAgentTags,
  listTags,
  putAgentTags,
  removeAgentTag,
} from '@roost/contracts/agents/tags'
import { agentRoute, answer, type Route, signedInRoute } from '../../http/route.ts'
import { type AgentRecords, requireAgent } from '../records/index.ts'
import { createOnce, type OnceDeps } from './once.ts'
import { refuseOrganizational } from './rules.ts'
import type { AgentManagement } from './service.ts'

const json = { headers: { 'content-type': 'application/json; charset=utf-8' } }

export type ManagementRoutesDeps = {
  agentManagement: AgentManagement
  agentRecords: Pick<AgentRecords, 'byId'>
  idempotency: OnceDeps['idempotency']
}

export function managementRoutes({
  agentManagement,
  agentRecords,
  idempotency,
}: ManagementRoutesDeps): Route[] {
  const once = createOnce({ agentRecords, idempotency })
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  return [
    signedInRoute(listAgents, async ({ caller, query }) =>
      answer(await agentManagement.list.bytes(caller, query.tags), json),
    ),
    signedInRoute(createAgent, async ({ caller, body, request }) => {
      request.note({ agent: body.name, template: body.template ?? null })
      const { body: created, replayed } = await once(caller, request.header('idempotency-key'), (claim) =>
        agentManagement.create(caller, body, claim),
      )
      return answer(created, { headers: replayed ? { 'x-idempotent-replay': 'true' } : {} })
    }),
    agentRoute(getAgent, async (call) =>
      agentManagement.details(await agentOf(call), call.caller, call.relation),
    ),
    agentRoute(deleteAgent, ({ agent }) => agentManagement.remove(agent.id)),
    agentRoute(renameAgent, async ({ agent, body, request }) => {
      const renamed = await agentManagement.rename(agent, body.new_name)
      request.note({ old_name: renamed.old_name, new_name: renamed.new_name })
      return renamed
    }),
    agentRoute(getLabel, async (call) => {
      const { name, label } = await agentOf(call)
      return { agent_name: name, label }
    }),
    agentRoute(putLabel, async (call) => {
      const agent = await agentOf(call)
      const { label } = call.body
      await agentManagement.setLabel(agent, label)
      return { agent_name: agent.name, label }
    }),
    agentRoute(getAgentInfo, async (call) =>
      agentManagement.describe.info(await agentOf(call), call.request.signal),
    ),
    agentRoute(getAgentLogs, async (call) =>
      agentManagement.describe.logs(await agentOf(call), call.query.tail),
    ),
    signedInRoute(listTags, async ({ caller }) => ({ tags: await agentManagement.list.tags(caller) })),
    agentRoute(getAgentTags, async (call) => {
      const { name, tags } = await agentOf(call)
      return { agent_name: name, tags: [...tags] }
    }),
    agentRoute(putAgentTags, async (call) => {
      const agent = await agentOf(call)
      const tags = await agentManagement.changeTags(agent, call.caller, () => call.body.tags)
      return { agent_name: agent.name, tags }
    }),
    agentRoute(addAgentTag, async (call) => {
      refuseOrganizational(call.caller, call.params.tag)
      const agent = await agentOf(call)
      const tags = await agentManagement.changeTags(agent, call.caller, (before) => [
        ...before,
        call.params.tag,
      ])
      return { agent_name: agent.name, tags }
    }),
    agentRoute(removeAgentTag, async (call) => {
      refuseOrganizational(call.caller, call.params.tag)
      const agent = await agentOf(call)
      const without = (before: readonly string[]) => before.filter((tag) => tag !== call.params.tag)
      return { agent_name: agent.name, tags: await agentManagement.changeTags(agent, call.caller, without) }
    }),
  ]
}
