import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, secondsLater } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import { lowestFreePort, type PortRange } from './rules.ts'

export type SshPortDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
  events: Pick<Outbox, 'append'>
  /** Null: this engine publishes no SSH ports. */
  range: PortRange | null
}

/** Assigns ports of the SSH range to agents. Port 0 means that the agent has no SSH. */
export type SshPorts = {
  /** The lowest port that is neither assigned nor in `refused`; 0 when the range is exhausted. */
  claim(tx: Tx, agentId: string, refused?: ReadonlySet<number>): Promise<number>
  /** Replaces the agent's port and returns the updated row. Throws `agent_not_found`. */
  move(agentId: string, refused: ReadonlySet<number>): Promise<Agent>
}

/** Time after which a port that another program used is tried again. */
const retryPortSeconds = 3600

export function createSshPorts({ db, clock, agentRecords, events, range }: SshPortDeps): SshPorts {
  /** Ports that other programs used, so that the next agent does not try each of them again. */
  const retryAt = new Map<number, Date>()

  function remember(refused: ReadonlySet<number>): void {
    for (const port of refused) retryAt.set(port, secondsLater(clock.now(), retryPortSeconds))
  }

  function remembered(): number[] {
    const now = clock.now()
    for (const [port, at] of retryAt) if (at <= now) retryAt.delete(port)
    return [...retryAt.keys()]
  }

  async function claim(tx: Tx, agentId: string, refused: ReadonlySet<number> = new Set()): Promise<number> {
    if (!range) return 0
    const store = agentStore(tx)
    for (;;) {
      const unusable = new Set([...(await store.usedPorts()), ...refused])
      const port =
        lowestFreePort(new Set([...unusable, ...remembered()]), range) ?? lowestFreePort(unusable, range)
      if (port === null) return 0
      if (await store.claimPort(agentId, port)) return port
    }
  }

  const move = (agentId: string, refused: ReadonlySet<number>) => {
    remember(refused)
    return db.atomically(async (tx) => {
      const store = agentStore(tx)
      await store.releasePort(agentId)
      await store.update(agentId, { port: await claim(tx, agentId, refused) })
      const moved = await store.byId(agentId)
      if (!moved) throw new Fault('agent_not_found')
      agentRecords.changed(tx, agentId)
      // An agent that is still being created has had no events yet.
      if (moved.state === 'ready') await appendPortChanged(tx, moved)
      return moved
    })
  }

  async function appendPortChanged(tx: Tx, { id, name }: Agent): Promise<void> {
    const type = 'agent.settings_changed'
    const event = { type, agent_names: [name], agent_ids: [id], fields: { setting: 'port' } }
    await events.append(tx, event, clock.now())
  }

  return { claim, move }
}
