import type { PlatformCalls } from '@roost/contracts/link/messages'
import { isFault } from '../../kit/fault.ts'
import { maskText } from '../../kit/mask-secrets.ts'
import { type AgentLink, LinkDown, LinkFault, LinkTimeout } from '../../ports/agent-link/port.ts'
import { ContainerError, type Containers } from '../../ports/containers/port.ts'
import type { Log } from '../../ports/log.ts'
import { engineFault } from '../lifecycle/index.ts'
import type { Agent } from '../records/index.ts'
import { type ReadTemplate, readTemplate, type Templates } from '../templates/index.ts'

export type DescribeDeps = {
  link: Pick<AgentLink, 'call' | 'isConnected'>
  templates: Pick<Templates, 'fileOf'>
  containers: Pick<Containers, 'logs'>
  log: Pick<Log, 'debug'>
  /** Texts that no caller may see. */
  secretsOf(agentId: string): Promise<readonly string[]>
}

export type AgentInfo = {
  agent_name: string
  has_template: boolean
  status: string
  [field: string]: unknown
}

/** An agent's description of itself, and the log of its container. */
export function createDescribe({ link, templates, containers, log, secretsOf }: DescribeDeps) {
  /** Reads the file in the workspace if the agent answers, else the one of its template. */
  async function info(agent: Agent, signal: AbortSignal): Promise<AgentInfo> {
    if (agent.status !== 'running') {
      return {
        agent_name: agent.name,
        has_template: agent.template !== null,
        template_name: agent.template,
        resources: { cpu: agent.cpu, memory: agent.memory },
        status: agent.status,
        message: 'The agent is not running. Start it to read the template in its workspace.',
      }
    }
    const { template } = await workspace(agent, signal)
    const { schedules: _, ...metadata } = template?.file ?? { schedules: null }
    return {
      ...metadata,
      ...(template ? { template_warnings: template.warnings } : {}),
      agent_name: agent.name,
      has_template: template !== null,
      status: agent.status,
    }
  }

  /**
   * Template and metrics from the workspace; a missing template falls back to the one the agent was created
   * from.
   */
  async function workspace(
    agent: Agent,
    signal: AbortSignal,
  ): Promise<{ template: ReadTemplate | null; metricsText: string | null }> {
    const answer = await ask(agent, signal)
    const own = answer?.template_yaml ? read(agent, answer.template_yaml) : null
    return { template: own ?? (await templates.fileOf(agent)), metricsText: answer?.metrics_json ?? null }
  }

  async function ask(agent: Agent, signal: AbortSignal): Promise<PlatformCalls['info']['answer'] | null> {
    if (agent.status !== 'running' || !link.isConnected(agent.id)) return null
    try {
      return await link.call(agent.id, 'info', {}, { signal, timeoutSeconds: 5 })
    } catch (error) {
      const isExpected =
        error instanceof LinkDown || error instanceof LinkTimeout || error instanceof LinkFault
      if (!isExpected) throw error
      log.debug({ err: error, agent: agent.name }, 'an agent did not describe its workspace')
      return null
    }
  }

  function read(agent: Agent, text: string): ReadTemplate | null {
    try {
      return readTemplate(text)
    } catch (error) {
      if (!isFault(error, 'template_unresolvable')) throw error
      log.debug({ err: error, agent: agent.name }, 'the template in the workspace cannot be read')
      return null
    }
  }

  async function logs(agent: Agent, tail: number): Promise<{ agent_name: string; logs: string }> {
    if (agent.container_id === null) return { agent_name: agent.name, logs: '' }
    try {
      const text = await containers.logs(agent.container_id, tail)
      return { agent_name: agent.name, logs: maskText(text, await secretsOf(agent.id)) }
    } catch (error) {
      // The container was removed from outside a moment ago, and its logs with it.
      if (error instanceof ContainerError && error.fault === 'no_such_container') {
        return { agent_name: agent.name, logs: '' }
      }
      throw engineFault(error)
    }
  }

  return { info, workspace, logs }
}
