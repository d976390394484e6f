import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Detach } from './detach.ts'
import { engineFault } from './faults.ts'
import type { Lock } from './lock.ts'
import type { Machine } from './machine.ts'
import { settleRunning } from './observe.ts'

export type RenewDeps = {
  db: Db
  agentRecords: Pick<AgentRecords, 'changed'>
  lock: Lock
  machine: Machine
  letGo: Detach
}

/**
 * Changes what only a new container can take, and makes a running agent anew at once; another one takes it
 * when it starts. The change is kept when the engine fails: the repair brings the agent up with it.
 */
export function createRenew({ db, agentRecords, lock, machine, letGo }: RenewDeps) {
  async function bringBack(agentId: string): Promise<void> {
    const agent = await present(agentId)
    const { at } = await machine.bringUp(agent)
    await db.atomically(async (tx) => {
      await settleRunning(tx, agent, at, 'ready')
      agentRecords.changed(tx, agentId)
    })
  }

  async function present(agentId: string): Promise<Agent> {
    const agent = await agentStore(db).byId(agentId)
    if (agent?.state !== 'ready') throw new Fault('agent_not_found')
    return agent
  }

  return (
    agentId: string,
    change: (tx: Tx, agent: Agent) => Promise<void>,
  ): Promise<'recreated' | 'next_start'> =>
    lock.run(agentId, async () => {
      const agent = await present(agentId)
      if (agent.desired !== 'running' || agent.held) {
        await db.atomically(async (tx) => {
          await change(tx, agent)
          agentRecords.changed(tx, agentId)
        })
        return 'next_start'
      }
      try {
        await letGo(agent, (tx) => change(tx, agent))
        await machine.takeAway(agent)
        await bringBack(agentId)
      } catch (error) {
        throw engineFault(error)
      }
      return 'recreated'
    })
}
