import type { NewEvent, Outbox } from '../../foundation/outbox/index.ts'
import type { Keys } from '../../identity/keys/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Disk } from '../disk/index.ts'
import type { Health } from '../health/index.ts'
import type { Lifecycle } from '../lifecycle/index.ts'
import type { Edges } from '../permissions/index.ts'
import { type Agent, agentStore } from '../records/index.ts'
import type { AgentHooks } from './hooks.ts'

export type RemoveDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  keys: Pick<Keys, 'deleteAgentKeys'>
  health: Pick<Health, 'forget'>
  disk: Pick<Disk, 'forget'>
  link: Pick<AgentLink, 'disconnect'>
  lifecycle: Pick<Lifecycle, 'lock' | 'leftovers'>
  edges: Pick<Edges, 'sourcesOf'>
  hooks: AgentHooks
}

/** Deletes an agent with everything it has. Resolves when its name and port are free. */
export function createRemove(deps: RemoveDeps) {
  const { db, clock, events, keys, health, disk, link, lifecycle, edges, hooks } = deps
  return async (agentId: string): Promise<{ message: string }> =>
    lifecycle.lock.run(agentId, async () => {
      const callers = await edges.sourcesOf(agentId)
      const { agent, leftover } = await db.atomically(async (tx) => {
        const current = await agentStore(tx).byId(agentId)
        if (current?.state !== 'ready') throw new Fault('agent_not_found')
        if (current.is_system) throw new Fault('system_agent_protected')
        const now = clock.now()
        await hooks.deleting(tx, { agent: current, now })
        await keys.deleteAgentKeys(tx, agentId)
        const recorded = await lifecycle.leftovers.deleteRows(tx, current)
        await events.append(tx, deletedEvent(current, callers), now)
        return { agent: current, leftover: recorded }
      })
      link.disconnect(agentId)
      health.forget(agentId)
      disk.forget(agentId)
      // The agent is deleted even if the engine is down; the repair loop removes the rest.
      await lifecycle.leftovers.clear(leftover)
      return { message: `Agent ${agent.name} deleted.` }
    })
}

function deletedEvent({ id, name, owner_id, shares }: Agent, callers: string[]): NewEvent {
  return {
    type: 'agent.deleted',
    agent_names: [name],
    agent_ids: [id],
    fields: { event: 'agent_deleted', data: { name } },
    seen_by: { user_ids: [owner_id], emails: shares.map(({ email }) => email), agent_ids: callers },
  }
}
