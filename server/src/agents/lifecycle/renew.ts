import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Detach } from './detach.ts'
import { engineFault } from './faults.ts'
import type { Lock } from './lock.ts'
import type { Machine } from './machine.ts'
import { settleStart } from './observe.ts'
import type { Placement } from './placement.ts'

export type RenewDeps = {
  db: Db
  agentRecords: Pick<AgentRecords, 'changed'>
  lock: Lock
  machine: Machine
  placement: Pick<Placement, 'refuseElsewhere'>
  detach: Detach
}

/**
 * Applies a change that needs a new container. A running agent is recreated immediately; others get the new
 * container at the next start. If the engine fails the change remains, and the repair loop starts the agent
 * with it.
 */
export function createRenew({ db, agentRecords, lock, machine, placement, detach }: RenewDeps) {
  async function bringBack(agentId: string): Promise<void> {
    const agent = await readyAgent(agentId)
    const started = await machine.bringUp(agent)
    await db.atomically(async (tx) => {
      await settleStart(tx, agent, started, 'ready')
      agentRecords.changed(tx, agentId)
    })
  }

  async function readyAgent(agentId: string): Promise<Agent> {
    const agent = await agentStore(db).byId(agentId)
    if (agent?.state !== 'ready') throw new Fault('agent_not_found')
    return agent
  }

  return (
    agentId: string,
    change: (tx: Tx, agent: Agent) => Promise<void>,
  ): Promise<'recreated' | 'next_start'> =>
    lock.run(agentId, async () => {
      const agent = await readyAgent(agentId)
      if (agent.desired !== 'running' || agent.held) {
        await db.atomically(async (tx) => {
          await change(tx, agent)
          agentRecords.changed(tx, agentId)
        })
        return 'next_start'
      }
      await placement.refuseElsewhere(agent)
      try {
        await detach(agent, (tx) => change(tx, agent))
        await machine.removeContainer(agent)
        await bringBack(agentId)
      } catch (error) {
        throw engineFault(error)
      }
      return 'recreated'
    })
}
