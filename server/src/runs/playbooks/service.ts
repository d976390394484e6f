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
  /** By name, as far as the caller may know of them. Throws `agent_stopped`, `agent_unresponsive`. */
  list(agent: Agent, caller: SignedIn, signal: AbortSignal): Promise<Playbook[]>
  /** All of them as first words to the agent, which a person may add to. Throws as `list` does. */
  starters(agent: Agent, signal: AbortSignal): Promise<Starter[]>
  /**
   * The task that a playbook is. Throws `skill_not_found` when there is none of this name that the caller may
   * run, `agent_not_running`, `agent_unresponsive`.
   */
  messageFor(
    agent: Agent,
    caller: SignedIn,
    wanted: { playbook: string; input: string },
    signal: AbortSignal,
  ): Promise<string>
}

/** Enough for the head of any instruction file, which is all that is read of it. */
const headBytes = 80 * 1024
/** Files that are asked for at a time, of an agent that has other things to do. */
const atOnce = 8

export function createPlaybooks({ ask, connectors }: PlaybooksDeps): Playbooks {
  /** Null: no such skill, or none that people may start. A file that cannot be read is as good as none. */
  async function read(
    agent: Agent,
    name: string,
    signal: AbortSignal,
  ): Promise<Omit<Playbook, 'exposed'> | null> {
    try {
      const path = `${workspaceRoot}/${instructionsOf(name)}`
      const asked = { path, offset: 0, length: headBytes, guarded: true }
      const { data_base64 } = await ask(agent, 'fs.read', asked, signal)
      const facts = readFrontmatter(Buffer.from(data_base64, 'base64').toString('utf8'))
      if (!facts.user_invocable) return null
      const { title, description, argument_hint, automation, allowed_tools } = facts
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

  /** By name; of all that are there those that are wanted. */
  async function readAll(agent: Agent, isWanted: (name: string) => boolean, signal: AbortSignal) {
    const { skills } = await ask(agent, 'skills.list', {}, signal)
    const names = skills
      .map(({ name }) => name)
      .filter((name) => skillNamePattern.test(name) && isWanted(name))
      .toSorted()
      .slice(0, maxPlaybooks)
    const found: Omit<Playbook, 'exposed'>[] = []
    for (let from = 0; from < names.length; from += atOnce) {
      const some = names.slice(from, from + atOnce).map((name) => read(agent, name, signal))
      for (const playbook of await Promise.all(some)) if (playbook) found.push(playbook)
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
    async messageFor(agent, caller, wanted, signal) {
      try {
        return await messageFor(agent, caller, wanted, signal)
      } catch (error) {
        if (!isFault(error, 'agent_stopped')) throw error
        // What would start a run on a stopped agent says so as all such routes do.
        throw new Fault('agent_not_running')
      }
    },
  }
}

function isConnector(caller: SignedIn): boolean {
  return caller.kind === 'key' && caller.key.scope === 'connector'
}
