import type { Client } from '@roost/contracts/conversations/workspace'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { Agent } from '../../agents/records/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { addressOf, type Principal, type Principals } from './principal.ts'
import type { Roster } from './roster.ts'
import { workspaceSessionStore } from './session-store.ts'
import { workspaceStore } from './store.ts'

export type ClientsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentAccess: Pick<AgentAccess, 'resolveAgent'>
  roster: Pick<Roster, 'find'>
  principals: Pick<Principals, 'closeAllOf' | 'recheck'>
}

export type Clients = ReturnType<typeof createClients>

/** The people who use an agent in the Workspace, for its owner. */
export function createClients({ db, clock, agentAccess, roster, principals }: ClientsDeps) {
  const sessions = workspaceSessionStore(db)

  /** The agent, if the principal may manage it. Throws `agent_not_found`, `owner_required`. */
  async function managedAgent(principal: Principal, name: string): Promise<Agent> {
    const result = principal.owns === null ? null : await agentAccess.resolveAgent(principal.caller, name)
    if (!result) {
      await roster.find(principal, name)
      throw new Fault('owner_required')
    }
    if (result.relation === 'owner' || result.relation === 'admin') return result.agent
    throw new Fault('owner_required')
  }

  async function clientsOf(agent: Agent): Promise<Client[]> {
    const [blocked, usage] = await Promise.all([
      sessions.blockedOf(agent.id),
      workspaceStore(db).usageOf(agent.id),
    ])
    const usageOf = Map.groupBy(usage, ([holder]) => addressOf(holder))
    const known = [...usageOf.keys()].filter((email) => email !== null)
    const emails = [...new Set([...agent.shares.map(({ email }) => email), ...blocked, ...known])]
    const lastUses = await sessions.lastUses(emails)
    return emails.toSorted().map((email) => {
      const uses = (usageOf.get(email) ?? []).map(([, use]) => use)
      const times = [lastUses.get(email), ...uses.map(({ last }) => last)].filter(
        (at) => typeof at === 'string',
      )
      return {
        email,
        last_active_at: times.toSorted().at(-1) ?? null,
        message_count: uses.reduce((sum, { messages }) => sum + messages, 0),
        blocked: blocked.has(email),
      }
    })
  }

  /** Throws `not_found` for an address that is not related to the agent. */
  async function clientOf(agent: Agent, email: string): Promise<Client> {
    const result = (await clientsOf(agent)).find((client) => client.email === email.toLowerCase())
    if (!result) throw new Fault('not_found', 'This address does not use the agent.')
    return result
  }

  function requireAdmin({ owns, caller }: Principal): void {
    if (owns === null || caller.user.role !== 'admin') throw new Fault('admin_required')
  }

  return {
    list: async (principal: Principal, name: string) => clientsOf(await managedAgent(principal, name)),

    async logOut(principal: Principal, name: string, email: string): Promise<Client> {
      const agent = await managedAgent(principal, name)
      const client = await clientOf(agent, email)
      await db.atomically((tx) => principals.closeAllOf(tx, client.email))
      return client
    },

    async block(principal: Principal, name: string, email: string): Promise<Client> {
      const agent = await managedAgent(principal, name)
      requireAdmin(principal)
      const client = await clientOf(agent, email)
      await db.atomically(async (tx) => {
        await workspaceSessionStore(tx).block({
          agent_id: agent.id,
          email: client.email,
          blocked_by: principal.caller.user.id,
          blocked_at: timestamp(clock.now()),
        })
        await principals.recheck(tx, client.email)
      })
      return { ...client, blocked: true }
    },

    async unblock(principal: Principal, name: string, email: string): Promise<Client> {
      const agent = await managedAgent(principal, name)
      requireAdmin(principal)
      const client = await clientOf(agent, email)
      await sessions.unblock(agent.id, client.email)
      return { ...client, blocked: false }
    },
  }
}
