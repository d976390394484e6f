import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { ContainerError } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Agent, type AgentRecords, agentStore, type Leftover } from '../records/index.ts'
import type { Machine } from './machine.ts'
import type { Placement } from './placement.ts'
import { volumesOf } from './spec.ts'

/**
 * Deletes an agent in two steps. One transaction deletes its rows and records what the engine still holds.
 * Then the engine's part is removed, immediately or later by the repair loop.
 */
export type Leftovers = {
  /** Deletes the agent's rows, which frees its name and port, and records the rest. */
  deleteRows(tx: Tx, agent: Agent): Promise<Leftover>
  /** Returns false if the engine failed or is another machine's; the record stays for the repair loop there. */
  clear(leftover: Leftover): Promise<boolean>
  all(): Promise<Leftover[]>
}

export type LeftoversDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'changed'>
  machine: Pick<Machine, 'clear'>
  placement: Pick<Placement, 'adoptLeftover'>
}

export function createLeftovers(deps: LeftoversDeps): Leftovers {
  const { db, clock, log, agentRecords, machine, placement } = deps

  async function clear(leftover: Leftover): Promise<boolean> {
    try {
      if (!(await placement.adoptLeftover(leftover))) return false
      await machine.clear(leftover)
    } catch (error) {
      // Readers have the volume mounted until they restart, so removal is retried until then.
      if (error instanceof ContainerError && error.fault === 'volume_in_use') return false
      log.warn(
        { err: error, agent_id: leftover.agent_id },
        'could not yet remove the container or volumes of a deleted agent',
      )
      return false
    }
    await agentStore(db).removeLeftover(leftover.id)
    return true
  }

  return {
    async deleteRows(tx, agent) {
      const leftover = {
        id: newId(),
        agent_id: agent.id,
        container_id: agent.container_id,
        engine_id: agent.engine_id,
        volumes: Object.values(volumesOf(agent)),
      }
      const store = agentStore(tx)
      await store.remove(agent.id)
      await store.addLeftover(leftover, timestamp(clock.now()))
      agentRecords.changed(tx, agent.id)
      return leftover
    },
    clear,
    all: () => agentStore(db).leftovers(),
  }
}
