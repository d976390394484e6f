import type { Principal } from '@roost/contracts/link/runs'
import { readPrincipal } from '../../identity/access/index.ts'
import type { Keys } from '../../identity/keys/index.ts'
import type { Users } from '../../identity/users/index.ts'
import type { Agent, AgentRecords } from '../records/index.ts'
import { shareOf } from './rules.ts'

/** What a principal may do now; `ended` is the reason why its runs no longer start. */
export type Resolved = Principal | { ended: string }

export type AgentPrincipals = {
  /** Reads shares, owners, accounts and settings as they are now. */
  resolve(agent: Agent, principal: string): Promise<Resolved>
}

export type AgentPrincipalsDeps = {
  agentRecords: Pick<AgentRecords, 'byId'>
  users: Pick<Users, 'find' | 'findLogin'>
  isConnectorOn(agentId: string): Promise<boolean>
  /** `callerOf` is null for a key that is revoked or deleted, and while its owner is suspended. */
  keys: Pick<Keys, 'callerOf'>
}

type Rights = Omit<Principal, 'id'>

export function createAgentPrincipals({
  agentRecords,
  users,
  isConnectorOn,
  keys,
}: AgentPrincipalsDeps): AgentPrincipals {
  async function rightsOf(agent: Agent, principal: string): Promise<Rights | { ended: string }> {
    const read = readPrincipal(principal)
    if (read?.kind === 'user') return ofAccount(agent, read.id)
    if (read?.kind === 'email') return ofMailbox(agent, read.id)
    if (read?.kind === 'stranger') return { access: agent.strangers, credentials: false }
    if (read?.kind === 'key') return ofConnector(agent, read.id)
    if (read?.kind === 'agent') return ofAgent(agent, principal)
    return ended('it is unknown for whom the run works')
  }

  async function ofAccount(agent: Agent, userId: string): Promise<Rights | { ended: string }> {
    const account = await users.find(userId)
    if (!account) return ended('the account was deleted')
    if (account.suspended_at) return suspended
    if (account.id === agent.owner_id || account.role === 'admin')
      return { access: 'owner', credentials: true }
    return account.email === null ? notShared : ofAddress(agent, account.email)
  }

  async function ofConnector(agent: Agent, keyId: string): Promise<Rights | { ended: string }> {
    if (!(await isConnectorOn(agent.id))) return ended('the connector is off')
    return (await keys.callerOf(keyId)) ? written : ended('the key of the connector no longer works')
  }

  /**
   * The rights of a person who signed in with a mailed code. As at that sign-in, a suspended account that has the
   * address ends them, with or without proof.
   */
  async function ofMailbox(agent: Agent, email: string): Promise<Rights | { ended: string }> {
    const login = await users.findLogin(email)
    return login?.account.suspended_at ? suspended : ofAddress(agent, email)
  }

  /**
   * An agent has no more than the principal that it works for, neither on itself nor on the agent that it calls:
   * nobody reaches more by asking one agent to ask another one.
   */
  async function ofAgent(agent: Agent, principal: string): Promise<Rights | { ended: string }> {
    const { agentIds, origin } = chainOf(principal)
    let rights: Rights | null = null
    for (const id of agentIds) {
      const caller = await agentRecords.byId(id)
      if (!caller) return ended('the calling agent was deleted')
      rights = lesser(rights, caller.owner_id === agent.owner_id ? written : readOnly)
      if (origin === null) continue
      const there = await rightsOf(caller, origin)
      if ('ended' in there) return there
      rights = lesser(rights, there)
    }
    if (origin === null) return rights ?? readOnly
    const direct = await rightsOf(agent, origin)
    // The owner of the agents lets one call the other; the person needs no share of both.
    return lesser(rights, 'ended' in direct ? readOnly : direct)
  }

  return {
    async resolve(agent, id) {
      const rights = await rightsOf(agent, id)
      return 'ended' in rights ? rights : { id, ...rights }
    },
  }
}

const written: Rights = { access: 'write', credentials: true }
const readOnly: Rights = { access: 'read', credentials: false }

function ofAddress(agent: Agent, email: string): Rights | { ended: string } {
  const share = shareOf(agent, email)
  if (!share) return notShared
  return share.access === 'write' ? written : readOnly
}

const ascending = ['none', 'read', 'write', 'owner'] as const

/** The calling agents, the last one first, and the person or stranger at the start if it is known. */
function chainOf(principal: string): { agentIds: string[]; origin: string | null } {
  const agentIds: string[] = []
  let origin: string | null = principal
  for (let read = readPrincipal(principal); read?.kind === 'agent'; read = readPrincipal(origin)) {
    agentIds.push(read.id)
    origin = read.origin
    if (origin === null) break
  }
  return { agentIds, origin }
}

function lesser(one: Rights | null, other: Rights): Rights {
  if (one === null) return other
  const level = Math.min(ascending.indexOf(one.access), ascending.indexOf(other.access))
  return { access: ascending[level] ?? 'none', credentials: one.credentials && other.credentials }
}

function ended(reason: string): { ended: string } {
  return { ended: `The run was not started: ${reason}.` }
}

const suspended = ended('the account is suspended')
const notShared = ended('the agent is no longer shared with the person for whom it works')
