import type { Client } from '@roost/contracts/conversations/workspace'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { holderOfAddress, type Principal, type Principals } from './principal.ts'
import type { Roster } from './roster.ts'
import { workspaceSessionStore } from './session-store.ts'
import { workspaceStore } from './store.ts'

export type ClientsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentAccess: Pick<AgentAccess, 'resolveAgent'>
  roster: Pick<Roster, 'find'>
  principals: Pick<Principals, 'closeAllOf'>
  /** Somebody may not use this agent any more: what is being told to them ends. */
  recheck(agent: { id: string; name: string }): void
}

export type Clients = ReturnType<typeof createClients>

/** Who uses an agent in the Workspace, as its owner sees it. */
export function createClients({ db, clock, agentAccess, roster, principals, recheck }: ClientsDeps) {
  const sessions = workspaceSessionStore(db)

  /** The agent, when it is the principal's to manage. Throws `agent_not_found`, `owner_required`. */
  async function managed(who: Principal, name: string): Promise<Agent> {
    const found = who.owns === null ? null : await agentAccess.resolveAgent(who.caller, name)
    if (!found) {
      await roster.find(who, name)
      throw new Fault('owner_required')
    }
    if (found.relation === 'owner' || found.relation === 'admin') return found.agent
    throw new Fault('owner_required')
  }

  async function all(agent: Agent): Promise<Client[]> {
    const [blocked, figures] = await Promise.all([
      sessions.blockedOf(agent.id),
      workspaceStore(db).figuresOf(agent.id),
    ])
    const known = [...figures.keys()].flatMap((holder) =>
      holder.startsWith('email:') ? [holder.slice('email:'.length)] : [],
    )
    const emails = [...new Set([...agent.shares.map(({ email }) => email), ...blocked, ...known])]
    const uses = await sessions.lastUses(emails)
    return emails.toSorted().map((email) => {
      const figure = figures.get(holderOfAddress(email))
      const times = [uses.get(email), figure?.last].filter((at) => typeof at === 'string')
      return {
        email,
        last_active_at: times.toSorted().at(-1) ?? null,
        message_count: figure?.messages ?? 0,
        blocked: blocked.has(email),
      }
    })
  }

  /** Throws `not_found` for an address that has nothing to do with the agent. */
  async function one(agent: Agent, email: string): Promise<Client> {
    const found = (await all(agent)).find((client) => client.email === email.toLowerCase())
    if (!found) throw new Fault('not_found', 'This address does not use the agent.')
    return found
  }

  function refuseOthers({ owns, caller }: Principal): void {
    if (owns === null || caller.user.role !== 'admin') throw new Fault('admin_required')
  }

  return {
    list: async (who: Principal, name: string) => all(await managed(who, name)),

    async logOut(who: Principal, name: string, email: string): Promise<Client> {
      const agent = await managed(who, name)
      const client = await one(agent, email)
      await principals.closeAllOf(client.email)
      recheck({ id: agent.id, name: agent.name })
      return client
    },

    async block(who: Principal, name: string, email: string): Promise<Client> {
      const agent = await managed(who, name)
      refuseOthers(who)
      const client = await one(agent, email)
      await sessions.block({
        agent_id: agent.id,
        email: client.email,
        blocked_by: who.caller.user.id,
        blocked_at: timestamp(clock.now()),
      })
      recheck({ id: agent.id, name: agent.name })
      return { ...client, blocked: true }
    },

    async unblock(who: Principal, name: string, email: string): Promise<Client> {
      const agent = await managed(who, name)
      refuseOthers(who)
      const client = await one(agent, email)
      await sessions.unblock(agent.id, client.email)
      return { ...client, blocked: false }
    },
  }
}
