import { Fault } from '../../kit/fault.ts'
import { ContainerError } from '../../ports/containers/port.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore, type Leftover } from '../records/index.ts'
import type { EngineIdentity } from './engine-identity.ts'

/** A container engine that a replica uses, and the host name of that replica. */
export type UsedEngine = { engine_id: string; host_name: string }

/** Which agents are on this process's engine. It may inspect and change only these. */
export type Placement = {
  /** False for an agent of another engine. Throws `ContainerError` while the own engine is unknown. */
  isHere(agent: Pick<Agent, 'id' | 'engine_id' | 'container_id'>): Promise<boolean>
  /** Throws `container_engine_error` with the machine of the agent. Passes while the own engine is unknown. */
  refuseElsewhere(agent: Agent): Promise<void>
  /** Call before a change at the engine. Throws for agents of another engine; records this engine if none is recorded. */
  claim(agent: Agent): Promise<void>
  isLeftHere(leftover: Pick<Leftover, 'engine_id'>): Promise<boolean>
  /** The own engine, for records of what it still holds; null while it is unknown. */
  known(): string | null
}

export type PlacementDeps = {
  db: Db
  agentRecords: Pick<AgentRecords, 'changed'>
  engine: EngineIdentity
  /** True if this engine has the container. */
  hasContainer(id: string): Promise<boolean>
  /** The engines of the replicas that ran in the last minutes. */
  usedEngines(): Promise<UsedEngine[]>
}

export function createPlacement(deps: PlacementDeps): Placement {
  const { db, agentRecords, engine, hasContainer, usedEngines } = deps

  async function isHere(agent: Pick<Agent, 'engine_id' | 'container_id'>): Promise<boolean> {
    const own = await engine.read()
    if (agent.engine_id !== null) return agent.engine_id === own
    // The agent is from an earlier version, or was never started. A single engine has all agents.
    const isOnlyEngine = (await usedEngines()).every(({ engine_id }) => engine_id === own)
    return isOnlyEngine || agent.container_id === null || hasContainer(agent.container_id)
  }

  async function elsewhere({ name, engine_id }: Agent): Promise<Fault> {
    if (engine_id === null)
      return new Fault(
        'container_engine_error',
        `The container of agent ${name} is not on the container engine of this machine. Use the machine that has it.`,
      )
    const used = (await usedEngines()).filter((each) => each.engine_id === engine_id)
    const hosts = [...new Set(used.map(({ host_name }) => host_name))]
    const place =
      hosts.length === 0 ? 'of a machine that does not answer' : `of the machine ${hosts.join(' or ')}`
    return new Fault(
      'container_engine_error',
      `Agent ${name} is on the container engine ${place} (${engine_id}). Send the request to a replica there.${hosts.length === 0 ? ' If the machine is lost, see ROOST_ADOPT_ENGINE.' : ''}`,
    )
  }

  return {
    isHere,
    async refuseElsewhere(agent) {
      const here = await isHere(agent).catch((error: unknown) => {
        // The operation that follows fails for the same reason.
        if (error instanceof ContainerError) return true
        throw error
      })
      if (!here) throw await elsewhere(agent)
    },
    async claim(agent) {
      if (!(await isHere(agent))) throw await elsewhere(agent)
      if (agent.engine_id !== null) return
      await db.atomically(async (tx) => {
        await agentStore(tx).update(agent.id, { engine_id: await engine.read() })
        agentRecords.changed(tx, agent.id)
      })
    },
    isLeftHere: async ({ engine_id }) => engine_id === null || engine_id === (await engine.read()),
    known: engine.known,
  }
}
