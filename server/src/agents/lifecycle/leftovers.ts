import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import { ContainerError } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Agent, type AgentRecords, agentStore, type Leftover } from '../records/index.ts'
import type { Machine } from './machine.ts'
import { volumesOf } from './spec.ts'

/**
 * The end of an agent in two halves: its rows go in one transaction, which leaves a note of what is still at
 * the engine; then that is removed, now or, when the engine is away, by the repair loop.
 */
export type Leftovers = {
  /** Removes the rows of the agent (name and port are free at once) and notes the rest. */
  leaveBehind(tx: Tx, agent: Agent): Promise<Leftover>
  /** False when the engine did not do it; it stays noted and is tried again. */
  clear(leftover: Leftover): Promise<boolean>
  clearAll(): Promise<void>
  all(): Promise<Leftover[]>
}

export type LeftoversDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  agentRecords: Pick<AgentRecords, 'changed'>
  machine: Pick<Machine, 'clear'>
}

export function createLeftovers({ db, clock, log, agentRecords, machine }: LeftoversDeps): Leftovers {
  async function clear(leftover: Leftover): Promise<boolean> {
    try {
      await machine.clear(leftover)
    } catch (error) {
      // Its readers have it until they start anew; it is asked again as long as that takes.
      if (error instanceof ContainerError && error.fault === 'volume_in_use') return false
      log.warn(
        { err: error, agent_id: leftover.agent_id },
        'what a deleted agent left could not be removed yet',
      )
      return false
    }
    await agentStore(db).removeLeftover(leftover.id)
    return true
  }

  return {
    async leaveBehind(tx, agent) {
      const { workspace, shared } = volumesOf(agent)
      const leftover = {
        id: newId(),
        agent_id: agent.id,
        container_id: agent.container_id,
        volumes: [workspace, shared],
      }
      const store = agentStore(tx)
      await store.remove(agent.id)
      await store.addLeftover(leftover, timestamp(clock.now()))
      agentRecords.changed(tx, agent.id)
      return leftover
    },
    clear,
    all: () => agentStore(db).leftovers(),
    async clearAll() {
      for (const leftover of await agentStore(db).leftovers()) await clear(leftover)
    },
  }
}
