import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentPatch, type AgentRecords, agentStore } from '../records/index.ts'
import type { LifecycleHooks } from './hooks.ts'
import { type Machine, stopGraceSeconds } from './machine.ts'

export type DetachDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
  machine: Pick<Machine, 'bringDown'>
  hooks: Pick<LifecycleHooks, 'stopping'>
}

/**
 * Ends the container of an agent that restarts immediately; the caller holds its lock. Clearing
 * `container_id` first keeps the stop from counting as a crash. `also` runs in the same transaction. If the
 * engine fails, the row names its container again.
 */
export function createDetach({ db, clock, agentRecords, machine, hooks }: DetachDeps) {
  return async (agent: Agent, also: (tx: Tx) => Promise<void> = async () => {}): Promise<void> => {
    const { container_id, status, started_at } = agent
    const write = (patch: AgentPatch, more: (tx: Tx) => Promise<void> = async () => {}) =>
      db.atomically(async (tx) => {
        await more(tx)
        await agentStore(tx).update(agent.id, { ...patch, observed_at: timestamp(clock.now()) })
        agentRecords.changed(tx, agent.id)
      })
    await write({ status: 'stopped', started_at: null, container_id: null, waiting: null }, async (tx) => {
      await also(tx)
      await hooks.stopping(tx, agent, clock.now())
    })
    try {
      await machine.bringDown(agent, stopGraceSeconds)
    } catch (error) {
      await write({ container_id, status, started_at })
      throw error
    }
    await write({ container_id })
  }
}

export type Detach = ReturnType<typeof createDetach>
