import { Fault } from '../../kit/fault.ts'
import { ContainerError, type Containers } from '../../ports/containers/port.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore, type Leftover } from '../records/index.ts'
import type { EngineIdentity } from './engine-identity.ts'
import { ownVolumes, volumesOf } from './spec.ts'

/** A container engine that a replica uses, and the host name of that replica. */
export type UsedEngine = { engine_id: string; host_name: string }

/** Which agents are on this process's engine. It may inspect and change only these. */
export type Placement = {
  /** False for an agent of another engine. Throws `ContainerError` while the own engine is unknown. */
  isHere(agent: Agent): Promise<boolean>
  /** Like `isHere`, and records this engine for an agent whose container or workspace it has. */
  adopt(agent: Agent): Promise<boolean>
  /** Throws `container_engine_error` with the machine of the agent. Passes while the own engine is unknown. */
  refuseElsewhere(agent: Agent): Promise<void>
  /** Call before a change at the engine. Throws for agents of another engine; records this engine if none is recorded. */
  claim(agent: Agent): Promise<void>
  /** Like `adopt`, for what a deleted agent left. */
  adoptLeftover(leftover: Leftover): Promise<boolean>
  /** The own engine, for records of what it still holds; null while it is unknown. */
  known(): string | null
}

/** `nowhere`: no engine has anything of the agent, so any may start it. */
type Place = 'here' | 'elsewhere' | 'nowhere'

export type PlacementDeps = {
  db: Db
  agentRecords: Pick<AgentRecords, 'changed'>
  engine: EngineIdentity
  containers: Pick<Containers, 'inspect' | 'list' | 'listVolumes'>
  /** The database cannot be shared with other machines, so every agent without an engine is here. */
  isOnlyMachine: boolean
  /** The engines of the replicas that ran in the last minutes. */
  usedEngines(): Promise<UsedEngine[]>
}

export function createPlacement(deps: PlacementDeps): Placement {
  const { db, agentRecords, engine, containers, isOnlyMachine, usedEngines } = deps

  async function placeOf(agent: Agent): Promise<Place> {
    const own = await engine.read()
    if (agent.engine_id !== null) return agent.engine_id === own ? 'here' : 'elsewhere'
    if (isOnlyMachine || (await hasContainerOf(agent))) return 'here'
    // Other machines may be stopped or have an earlier version, so their replicas prove nothing.
    if ((await containers.listVolumes()).includes(volumesOf(agent).workspace)) return 'here'
    return agent.container_id === null && neverRan(agent) ? 'nowhere' : 'elsewhere'
  }

  async function hasContainerOf({ container_id }: Pick<Agent, 'container_id'>): Promise<boolean> {
    return container_id !== null && (await containers.inspect(container_id)) !== null
  }

  /** False if another engine recorded itself first. */
  async function record(agent: Agent): Promise<boolean> {
    const own = await engine.read()
    return db.atomically(async (tx) => {
      const store = agentStore(tx)
      if (!(await store.recordEngine(agent.id, own))) return (await store.byId(agent.id))?.engine_id === own
      agentRecords.changed(tx, agent.id)
      return true
    })
  }

  /** An earlier version removed them in any order, and a reader's machine has a copy of the shared folder. */
  async function hasLeftover({ agent_id, container_id, volumes }: Leftover): Promise<boolean> {
    const hasContainer =
      container_id === null
        ? (await containers.list()).some(({ labels }) => labels['roost.agent-id'] === agent_id)
        : await hasContainerOf({ container_id })
    if (hasContainer) return true
    const stored = await containers.listVolumes()
    return ownVolumes(volumes).some((volume) => stored.includes(volume))
  }

  async function elsewhere({ name, engine_id }: Agent): Promise<Fault> {
    if (engine_id === null)
      return new Fault(
        'container_engine_error',
        `The container of agent ${name} is not on the container engine of this machine. Use the machine that has it. If no machine has it, see ROOST_ADOPT_ENGINE.`,
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

  const isHere = async (agent: Agent) => (await placeOf(agent)) !== 'elsewhere'

  return {
    isHere,
    async adopt(agent) {
      const place = await placeOf(agent)
      // An agent that never ran is recorded by the engine that starts it.
      if (agent.engine_id !== null || place !== 'here') return place !== 'elsewhere'
      return record(agent)
    },
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
      if (agent.engine_id !== null || (await record(agent))) return
      throw await elsewhere((await agentStore(db).byId(agent.id)) ?? agent)
    },
    async adoptLeftover(leftover) {
      const own = await engine.read()
      if (leftover.engine_id !== null) return leftover.engine_id === own
      if (!isOnlyMachine && !(await hasLeftover(leftover))) return false
      // Recorded first: a removal that fails halfway leaves less to recognize it by.
      await agentStore(db).recordLeftoverEngine(leftover.id, own)
      return true
    },
    known: engine.known,
  }
}

/** Created, but not started yet: no engine has volumes of it. */
function neverRan({ state, created, observed_at }: Agent): boolean {
  return state === 'creating' || observed_at === created
}
