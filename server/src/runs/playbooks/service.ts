import { workspaceRoot } from '@roost/contracts/agents/workspace'
import { maxPlaybooks, type Playbook } from '@roost/contracts/runs/playbooks'
import { skillNamePattern } from '@roost/contracts/skills/library'
import type { McpConnectors } from '../../agents/mcp-connector/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import type { CallAgent } from '../../agents/rpc/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import { LinkFault } from '../../ports/agent-link/port.ts'
import { readFrontmatter } from '../../skills/library/index.ts'
import { instructionsOf, messageOf } from './rules.ts'

export type PlaybooksDeps = {
  ask: CallAgent
  connectors: Pick<McpConnectors, 'offer'>
}

export type Starter = { title: string; description: string | null; starter_prompt: string }

export type Playbooks = {
  /** Playbooks visible to the caller, by name. Throws `agent_stopped`, `agent_unresponsive`. */
  list(agent: Agent, caller: SignedIn, signal: AbortSignal): Promise<Playbook[]>
  /** All playbooks as conversation starters. Throws the errors of `list`. */
  starters(agent: Agent, signal: AbortSignal): Promise<Starter[]>
  /**
   * Returns the task message of a playbook. Throws `skill_not_found` when the caller may not run it or it
   * does not exist, `agent_not_running`, `agent_unresponsive`.
   */
  messageFor(
    agent: Agent,
    caller: SignedIn,
    request: { playbook: string; input: string },
    signal: AbortSignal,
  ): Promise<string>
}

/** Covers the front matter of any instruction file; the rest is not read. */
const headBytes = 80 * 1024
/** Files read from the agent concurrently; kept low because the agent has other work. */
const maxConcurrentReads = 8

export function createPlaybooks({ ask, connectors }: PlaybooksDeps): Playbooks {
  /** Returns null for an unknown, unreadable or not startable skill. */
  async function read(
    agent: Agent,
    name: string,
    signal: AbortSignal,
  ): Promise<Omit<Playbook, 'exposed'> | null> {
    try {
      const path = `${workspaceRoot}/${instructionsOf(name)}`
      const request = { path, offset: 0, length: headBytes, guarded: true }
      const { data_base64 } = await ask(agent, 'fs.read', request, signal)
      const frontmatter = readFrontmatter(Buffer.from(data_base64, 'base64').toString('utf8'))
      if (!frontmatter.user_invocable) return null
      const { title, description, argument_hint, automation, allowed_tools } = frontmatter
      return { name, title, description, argument_hint, automation, allowed_tools }
    } catch (error) {
      if (error instanceof LinkFault) return null
      throw error
    }
  }

  async function messageFor(
    agent: Agent,
    caller: SignedIn,
    { playbook, input }: { playbook: string; input: string },
    signal: AbortSignal,
  ): Promise<string> {
    const unknown = new Fault('skill_not_found', 'There is no such playbook.')
    if (!skillNamePattern.test(playbook)) throw unknown
    if (isConnector(caller) && !(await connectors.offer(agent.id))(playbook)) throw unknown
    if (!(await read(agent, playbook, signal))) throw unknown
    return messageOf(agent.runtime, playbook, input)
  }

  /** Reads the startable playbooks that pass the filter, by name. */
  async function readAll(agent: Agent, isIncluded: (name: string) => boolean, signal: AbortSignal) {
    const { skills } = await ask(agent, 'skills.list', {}, signal)
    const names = skills
      .map(({ name }) => name)
      .filter((name) => skillNamePattern.test(name) && isIncluded(name))
      .toSorted()
      .slice(0, maxPlaybooks)
    const found: Omit<Playbook, 'exposed'>[] = []
    for (let from = 0; from < names.length; from += maxConcurrentReads) {
      const batch = names.slice(from, from + maxConcurrentReads).map((name) => read(agent, name, signal))
      for (const playbook of await Promise.all(batch)) if (playbook) found.push(playbook)
    }
    return found
  }

  return {
    async list(agent, caller, signal) {
      const isExposed = await connectors.offer(agent.id)
      const found = await readAll(agent, (name) => !isConnector(caller) || isExposed(name), signal)
      return found.map((playbook) => ({ ...playbook, exposed: isExposed(playbook.name) }))
    },
    async starters(agent, signal) {
      const found = await readAll(agent, () => true, signal)
      return found.map(({ name, title, description }) => ({
        title: title ?? name,
        description,
        starter_prompt: messageOf(agent.runtime, name, ''),
      }))
    },
    async messageFor(agent, caller, request, signal) {
      try {
        return await messageFor(agent, caller, request, signal)
      } catch (error) {
        if (!isFault(error, 'agent_stopped')) throw error
        // Every route that starts a run reports a stopped agent with this error.
        throw new Fault('agent_not_running')
      }
    },
  }
}

function isConnector(caller: SignedIn): boolean {
  return caller.kind === 'key' && caller.key.scope === 'connector'
}
