import type { TemplateFile } from '@roost/contracts/agents/templates'
import { isFault } from '../../kit/fault.ts'
import { maskText } from '../../kit/mask-secrets.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import { ContainerError, type Containers } from '../../ports/containers/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Agent } from '../directory/index.ts'
import { engineFault } from '../lifecycle/index.ts'
import { parseTemplate, type Templates } from '../templates/index.ts'

export type DescribeDeps = {
  link: Pick<AgentLink, 'call' | 'isConnected'>
  templates: Pick<Templates, 'fileOf'>
  containers: Pick<Containers, 'logs'>
  log: Pick<Log, 'debug'>
  /** Texts that nobody is shown. */
  secretsOf(agentId: string): Promise<readonly string[]>
}

export type AgentInfo = {
  agent_name: string
  has_template: boolean
  status: string
  [field: string]: unknown
}

/** What an agent says about itself, and what its container wrote. */
export function createDescribe({ link, templates, containers, log, secretsOf }: DescribeDeps) {
  /** The file in the workspace when the agent answers, else the one it was made from. */
  async function info(agent: Agent, signal: AbortSignal): Promise<AgentInfo> {
    if (agent.status !== 'running') {
      return {
        agent_name: agent.name,
        has_template: agent.template !== null,
        template_name: agent.template,
        resources: { cpu: agent.cpu, memory: agent.memory },
        status: agent.status,
        message: 'The agent is not running: start it to see what its workspace says.',
      }
    }
    const file = (await fromWorkspace(agent, signal)) ?? (await templates.fileOf(agent))
    const { schedules: _, ...metadata } = file ?? { schedules: null }
    return { ...metadata, agent_name: agent.name, has_template: file !== null, status: agent.status }
  }

  async function fromWorkspace(agent: Agent, signal: AbortSignal): Promise<TemplateFile | null> {
    if (!link.isConnected(agent.id)) return null
    try {
      const answer = await link.call(agent.id, 'info', {}, { signal, timeoutSeconds: 5 })
      return answer.template_yaml === null ? null : parseTemplate(answer.template_yaml)
    } catch (error) {
      const isExpected =
        error instanceof LinkDown || error instanceof LinkTimeout || error instanceof LinkFault
      if (!isExpected && !isFault(error, 'template_unresolvable')) throw error
      log.debug({ err: error, agent: agent.name }, 'the workspace did not say what it is')
      return null
    }
  }

  async function logs(agent: Agent, tail: number): Promise<{ agent_name: string; logs: string }> {
    if (agent.container_id === null) return { agent_name: agent.name, logs: '' }
    try {
      const text = await containers.logs(agent.container_id, tail)
      return { agent_name: agent.name, logs: maskText(text, await secretsOf(agent.id)) }
    } catch (error) {
      // Removed from outside a moment ago: there is nothing to read any more.
      if (error instanceof ContainerError && error.fault === 'no_such_container') {
        return { agent_name: agent.name, logs: '' }
      }
      throw engineFault(error)
    }
  }

  return { info, logs }
}
