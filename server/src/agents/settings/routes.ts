import type { RecreateReason } from '@roost/contracts/agents/agent'
import { getIsolation, putIsolation } from '@roost/contracts/agents/isolation'
import * as endpoints from '@roost/contracts/agents/settings'
import { parseModelOverride } from '@roost/contracts/kit/model'
import { agentRoute, type Route, route, signedInRoute } from '../../http/route.ts'
import { Fault } from '../../kit/fault.ts'
import type { Lifecycle } from '../lifecycle/index.ts'
import { type Agent, type AgentRecords, requireAgent } from '../records/index.ts'
import { minutesOf, readOnlyConfigOf, toolNames } from './rules.ts'
import type { Settings } from './service.ts'

export type SettingsRoutesDeps = {
  settings: Settings
  agentRecords: Pick<AgentRecords, 'byId' | 'byName' | 'all'>
  lifecycle: Pick<Lifecycle, 'recreateReasons'>
}

export function settingsRoutes({ settings, agentRecords, lifecycle }: SettingsRoutesDeps): Route[] {
  const agentOf = ({ agent }: { agent: { id: string } }) => requireAgent(agentRecords, agent.id)
  const needs = async (agent: Agent, reason: RecreateReason) =>
    (await lifecycle.recreateReasons(agent)).includes(reason)

  const readOnly = (agent: Agent) => ({
    agent_name: agent.name,
    enabled: agent.read_only_enabled,
    config: readOnlyConfigOf(agent),
  })
  const timeout = ({ name, execution_timeout_seconds }: Agent) => ({
    agent_name: name,
    execution_timeout_seconds,
    execution_timeout_minutes: minutesOf(execution_timeout_seconds),
  })
  const resources = async (agent: Agent) => ({
    agent_name: agent.name,
    cpu: agent.cpu,
    memory: agent.memory,
    current_cpu: agent.applied?.cpu ?? null,
    current_memory: agent.applied?.memory ?? null,
    restart_needed: await needs(agent, 'resources'),
  })
  const capabilities = async (agent: Agent) => ({
    agent_name: agent.name,
    full_capabilities: agent.full_capabilities,
    current_full_capabilities: agent.applied?.full_capabilities ?? null,
    restart_needed: await needs(agent, 'capabilities'),
  })
  const runtime = async (agent: Agent) => ({
    agent_name: agent.name,
    runtime: agent.runtime,
    restart_needed: await needs(agent, 'runtime'),
  })
  const isolation = async (agent: Agent) => ({
    ...settings.isolation(agent),
    restart_needed: await needs(agent, 'isolation'),
  })
  const model = async (agent: Agent) => ({
    agent_name: agent.name,
    model: agent.runtime_model,
    ...(await settings.resolvedModel(agent)),
  })
  const instructions = ({ name, custom_instructions }: Agent) => ({ agent_name: name, custom_instructions })
  const operatorResume = ({ name, operator_resume }: Agent) => ({
    agent_name: name,
    enabled: operator_resume,
  })
  const strangers = ({ name, strangers: access }: Agent) => ({ agent_name: name, access })
  /** For an unpublished agent, the name its tool would have. */
  const mcpExposed = async (agent: Agent) => {
    const published = (await agentRecords.all()).filter(({ mcp_exposed }) => mcp_exposed)
    const others = published.filter(({ id }) => id !== agent.id)
    return {
      agent_name: agent.name,
      enabled: agent.mcp_exposed,
      tool_name: toolNames([...others, agent]).get(agent.id) ?? '',
    }
  }

  return [
    agentRoute(endpoints.getAutonomy, async (call) => settings.autonomy(await agentOf(call))),
    agentRoute(endpoints.putAutonomy, async (call) => {
      const { enabled } = call.body
      call.request.note({ enabled })
      const patch = { autonomy_enabled: enabled ? 1 : 0 }
      return settings.autonomy((await settings.change(await agentOf(call), 'autonomy', patch)).agent)
    }),

    agentRoute(endpoints.getReadOnly, async (call) => readOnly(await agentOf(call))),
    agentRoute(endpoints.putReadOnly, async (call) => {
      const { enabled, config } = call.body
      call.request.note({ enabled })
      const { agent, applied } = await settings.setReadOnly(await agentOf(call), enabled, config)
      return { ...readOnly(agent), applied }
    }),

    agentRoute(endpoints.getTimeout, async (call) => timeout(await agentOf(call))),
    agentRoute(endpoints.putTimeout, async (call) => {
      const seconds = call.body.execution_timeout_seconds
      call.request.note({ execution_timeout_seconds: seconds })
      return timeout((await settings.setTimeout(await agentOf(call), seconds)).agent)
    }),

    agentRoute(endpoints.getCapacity, async (call) => settings.capacity(await agentOf(call), call.caller)),
    agentRoute(endpoints.putCapacity, async (call) => {
      const { max_parallel_tasks } = call.body
      call.request.note({ max_parallel_tasks })
      const { agent } = await settings.setCapacity(await agentOf(call), max_parallel_tasks)
      return settings.capacity(agent, call.caller)
    }),

    agentRoute(endpoints.getResources, async (call) => resources(await agentOf(call))),
    agentRoute(endpoints.putResources, async (call) => {
      const { cpu, memory } = call.body
      const patch = { ...(cpu ? { cpu } : {}), ...(memory ? { memory } : {}) }
      call.request.note(patch)
      return resources((await settings.change(await agentOf(call), 'resources', patch)).agent)
    }),

    agentRoute(endpoints.getCapabilities, async (call) => capabilities(await agentOf(call))),
    agentRoute(endpoints.putCapabilities, async (call) => {
      const { full_capabilities } = call.body
      call.request.note({ full_capabilities })
      const patch = { full_capabilities: full_capabilities ? 1 : 0 }
      return capabilities((await settings.change(await agentOf(call), 'capabilities', patch)).agent)
    }),

    agentRoute(endpoints.getRuntime, async (call) => runtime(await agentOf(call))),
    agentRoute(endpoints.putRuntime, async (call) => {
      call.request.note({ runtime: call.body.runtime })
      const patch = { runtime: call.body.runtime }
      return runtime((await settings.change(await agentOf(call), 'runtime', patch)).agent)
    }),

    agentRoute(getIsolation, async (call) => isolation(await agentOf(call))),
    signedInRoute(putIsolation, async (call) => {
      const { runtime } = call.body
      const agent = await agentRecords.byName(call.params.name)
      if (!agent) throw new Fault('agent_not_found')
      call.request.note({ runtime })
      return isolation((await settings.setIsolation(agent, runtime)).agent)
    }),

    agentRoute(endpoints.getModel, async (call) => model(await agentOf(call))),
    agentRoute(endpoints.putModel, async (call) => {
      const value = call.body.model
      const runtime_model = parseModelOverride(value)
      if (runtime_model === undefined) {
        throw new Fault('invalid_model', `"${value}" is not a model id.`, { value })
      }
      call.request.note({ model: runtime_model })
      return model((await settings.change(await agentOf(call), 'model', { runtime_model })).agent)
    }),

    agentRoute(endpoints.getInstructions, async (call) => instructions(await agentOf(call))),
    agentRoute(endpoints.putInstructions, async (call) => {
      const text = call.body.custom_instructions
      const patch = { custom_instructions: text?.trim() ? text : null }
      return instructions((await settings.change(await agentOf(call), 'instructions', patch)).agent)
    }),

    agentRoute(endpoints.getOperatorResume, async (call) => operatorResume(await agentOf(call))),
    agentRoute(endpoints.putOperatorResume, async (call) => {
      const { enabled } = call.body
      call.request.note({ enabled })
      const patch = { operator_resume: enabled ? 1 : 0 }
      return operatorResume((await settings.change(await agentOf(call), 'operator-resume', patch)).agent)
    }),

    agentRoute(endpoints.getStrangers, async (call) => strangers(await agentOf(call))),
    agentRoute(endpoints.putStrangers, async (call) => {
      const { access } = call.body
      call.request.note({ access })
      return strangers((await settings.change(await agentOf(call), 'strangers', { strangers: access })).agent)
    }),

    agentRoute(endpoints.getMcpExposed, async (call) => mcpExposed(await agentOf(call))),
    agentRoute(endpoints.putMcpExposed, async (call) => {
      const agent = await agentOf(call)
      if (agent.is_system) throw new Fault('system_agent_protected')
      const { enabled } = call.body
      call.request.note({ enabled })
      const patch = { mcp_exposed: enabled ? 1 : 0 }
      return mcpExposed((await settings.change(agent, 'mcp-exposed', patch)).agent)
    }),
  ]
}

/** For the MCP server, on the internal listener. */
export function internalSettingsRoutes(agentRecords: Pick<AgentRecords, 'all'>): Route[] {
  return [
    route(endpoints.listExposedAgents, async () => {
      const published = (await agentRecords.all()).filter(({ mcp_exposed }) => mcp_exposed)
      const names = toolNames(published)
      const agents = published.map(({ id, name, label }) => ({
        agent_name: name,
        tool_name: names.get(id) ?? '',
        description: label ?? name,
      }))
      return { agents }
    }),
  ]
}
