import type { Share, ShareAccess } from '@roost/contracts/agents/agent'
import type { AgentAccess } from '@roost/contracts/agents/sharing'
import type { z } from 'zod'
import type { NewEvent, Outbox } from '../../foundation/outbox/index.ts'
import { type AccessEnd, accountPrincipal, type SignedIn } from '../../identity/access/index.ts'
import type { Account, Users } from '../../identity/users/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Edges } from '../permissions/index.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import { accessView, shareView } from './view.ts'

export type SharingDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'changed'>
  users: Pick<Users, 'find' | 'findLogin'>
  edges: Pick<Edges, 'withdrawFromOwner'>
  /** Ends what people started or set up who have lost access. */
  accessEnded(tx: Tx, end: AccessEnd): Promise<void>
  /** Adds the address to the allow list as a plain user; an existing entry stays unchanged. */
  allowAddress(tx: Tx, email: string, by: SignedIn): Promise<void>
  /** When each person last used the agent, by user id. */
  lastUseBy(agentId: string): Promise<ReadonlyMap<string, string>>
}

export type Sharing = {
  /** Throws `system_agent_protected`, `self_share` (the owner's own address), `already_shared`. */
  share(
    agent: Agent,
    to: { email: string; access: ShareAccess },
    by: SignedIn,
  ): Promise<z.output<typeof Share>>
  /** Throws `not_found` when the agent is not shared with this address. */
  change(agent: Agent, to: { email: string; access: ShareAccess }): Promise<z.output<typeof Share>>
  /** Throws `not_found` when the agent is not shared with this address. */
  unshare(agent: Agent, email: string): Promise<void>
  /** The owner, then the people it is shared with, newest first. */
  access(agent: Agent): Promise<AgentAccess[]>
}

/** Callers pass addresses in lower case. */
export function createSharing(deps: SharingDeps): Sharing {
  const { db, clock, events, agentRecords, users, edges, accessEnded, allowAddress, lastUseBy } = deps

  /** The account with this verified address. */
  async function holderOf(email: string): Promise<Account | null> {
    const account = (await users.findLogin(email))?.account ?? null
    return account?.email === email ? account : null
  }

  async function rejectOwner({ owner_id }: Agent, email: string): Promise<void> {
    if ((await users.find(owner_id))?.email === email) throw new Fault('self_share')
  }

  return {
    async share(agent, { email, access }, by) {
      if (agent.is_system) throw new Fault('system_agent_protected')
      await rejectOwner(agent, email)
      const now = clock.now()
      const share = {
        id: newId(),
        email,
        access,
        shared_by_id: by.user.id,
        shared_by_email: by.user.email,
        created_at: timestamp(now),
      }
      await db.atomically(async (tx) => {
        const store = agentStore(tx)
        if (!(await store.lock(agent.id))) throw new Fault('agent_not_found')
        if (!(await store.addShare(agent.id, share))) throw new Fault('already_shared')
        await allowAddress(tx, email, by)
        await events.append(tx, sharingEvent(agent, 'shared', { shared_with: email, access }), now)
        agentRecords.changed(tx, agent.id)
      })
      return shareView(agent.name, share)
    },

    async change(agent, { email, access }) {
      const share = await db.atomically(async (tx) => {
        const store = agentStore(tx)
        if (!(await store.lock(agent.id))) throw new Fault('agent_not_found')
        const changed = await store.changeShare(agent.id, email, access)
        if (!changed) throw notShared(email)
        await events.append(tx, sharingEvent(agent, 'shared', { shared_with: email, access }), clock.now())
        agentRecords.changed(tx, agent.id)
        return changed
      })
      return shareView(agent.name, share)
    },

    async unshare(agent, email) {
      const holder = await holderOf(email)
      await db.atomically(async (tx) => {
        const store = agentStore(tx)
        if (!(await store.lock(agent.id))) throw new Fault('agent_not_found')
        if (!(await store.removeShare(agent.id, email))) throw notShared(email)
        // A person's agents lose access together with the person, unless the person is an admin.
        const losesAccess = holder && holder.role !== 'admin' && holder.id !== agent.owner_id
        if (losesAccess) await edges.withdrawFromOwner(tx, agent.id, holder.id)
        const now = clock.now()
        const lost = new Set([`email:${email}`, ...(losesAccess ? [accountPrincipal(holder.id)] : [])])
        await accessEnded(tx, {
          agent,
          isOf: (principal) => lost.has(principal),
          reason: `The agent is no longer shared with ${email}.`,
          now,
        })
        await events.append(tx, sharingEvent(agent, 'unshared', { removed_user: email }), now)
        agentRecords.changed(tx, agent.id)
      })
    },

    async access(agent) {
      const lastUse = await lastUseBy(agent.id)
      const shares = await Promise.all(
        agent.shares.toReversed().map(async ({ email, access }) => ({
          email,
          access,
          holder: await holderOf(email),
        })),
      )
      return [
        accessView('owner', null, await users.find(agent.owner_id), lastUse),
        ...shares.map(({ email, access, holder }) => accessView(access, email, holder, lastUse)),
      ]
    },
  }
}

function sharingEvent(
  { id, name }: Agent,
  change: 'shared' | 'unshared',
  fields: { shared_with: string; access: ShareAccess } | { removed_user: string },
): NewEvent {
  const data = { name, ...fields }
  return {
    type: `agent.${change}`,
    agent_names: [name],
    agent_ids: [id],
    fields: { event: `agent_${change}`, data },
  }
}

function notShared(email: string): Fault {
  return new Fault('not_found', `The agent is not shared with "${email.slice(0, 254)}".`)
}
