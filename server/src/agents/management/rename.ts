import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { engineFault, type Lifecycle, settleStart } from '../lifecycle/index.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { AgentHooks } from './hooks.ts'
import { agentExists, refuseReservedName } from './rules.ts'

export type RenameDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
  events: Pick<Outbox, 'append'>
  lifecycle: Pick<Lifecycle, 'lock' | 'machine' | 'detach' | 'refuseElsewhere'>
  hooks: AgentHooks
}

export type Renamed = { message: string; old_name: string; new_name: string; was_running: boolean }

/**
 * Renames an agent and keeps its volumes, key and history. The container's environment contains the name, so
 * the container is recreated: now if the agent is running, else at the next start.
 */
export function createRename(deps: RenameDeps) {
  const { db, clock, agentRecords, events, lifecycle, hooks } = deps

  async function rename(
    { id: agentId, name }: Pick<Agent, 'id' | 'name'>,
    newName: string,
  ): Promise<Renamed> {
    refuseReservedName(newName)
    return lifecycle.lock.run(agentId, async () => {
      const agent = await readyAgent(agentId)
      await lifecycle.refuseElsewhere(agent)
      // Another rename was first, so the caller's name is unknown by now.
      if (agent.name !== name) throw new Fault('agent_not_found')
      if (agent.is_system) throw new Fault('system_agent_protected')
      if (agent.name === newName) throw invalidField(['new_name'], 'is already the name of the agent')
      await rejectUsedName(newName, agentId)
      const wasRunning = agent.desired === 'running' && !agent.held
      await removeContainer(agent, wasRunning)
      const renamed = await commit(agent, newName)
      if (wasRunning) await bringBack(renamed)
      return {
        message: `Agent ${agent.name} was renamed to ${newName}.`,
        old_name: agent.name,
        new_name: newName,
        was_running: wasRunning,
      }
    })
  }

  /** Before the rename, so that an engine failure changes nothing. */
  async function removeContainer(agent: Agent, wasRunning: boolean): Promise<void> {
    try {
      if (wasRunning) await lifecycle.detach(agent)
      await lifecycle.machine.removeContainer(agent)
    } catch (error) {
      throw engineFault(error)
    }
  }

  async function commit(agent: Agent, newName: string): Promise<Agent> {
    try {
      return await db.atomically(async (tx) => {
        const store = agentStore(tx)
        if (!(await store.rename(agent, newName))) throw new Fault('agent_not_found')
        const now = clock.now()
        await hooks.renamed(tx, { agent, newName, now })
        const names = { old_name: agent.name, new_name: newName }
        await events.append(
          tx,
          {
            type: 'agent.renamed',
            agent_names: [newName],
            agent_ids: [agent.id],
            fields: { ...names, event: 'agent_renamed', data: { name: newName, ...names } },
          },
          now,
        )
        agentRecords.changed(tx, agent.id)
        const renamed = await store.byId(agent.id)
        if (!renamed) throw new Fault('agent_not_found')
        return renamed
      })
    } catch (error) {
      // The name may have been claimed meanwhile; each database reports that differently.
      await rejectUsedName(newName, agent.id)
      throw error
    }
  }

  async function bringBack(agent: Agent): Promise<void> {
    try {
      const started = await lifecycle.machine.bringUp(agent)
      await db.atomically(async (tx) => {
        await settleStart(tx, agent, started, 'ready')
        agentRecords.changed(tx, agent.id)
      })
    } catch (error) {
      throw engineFault(error)
    }
  }

  async function rejectUsedName(name: string, agentId: string): Promise<void> {
    const other = await agentStore(db).byName(name)
    if (other && other.id !== agentId) throw agentExists(name)
  }

  async function readyAgent(agentId: string): Promise<Agent> {
    const agent = await agentStore(db).byId(agentId)
    if (agent?.state !== 'ready') throw new Fault('agent_not_found')
    return agent
  }

  return rename
}
