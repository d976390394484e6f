import type { Share } from '@roost/contracts/agents/agent'
import type { AgentAccess } from '@roost/contracts/agents/sharing'
import type { z } from 'zod'
import type { Account } from '../../identity/users/index.ts'
import type { Agent, AgentShare } from '../records/index.ts'

type ShareView = z.output<typeof Share>

export function shareView(agentName: string, { email, ...share }: AgentShare): ShareView {
  return { ...share, agent_name: agentName, shared_with_email: email }
}

/** Newest first. */
export function sharesOf(agent: Pick<Agent, 'name' | 'shares'>): ShareView[] {
  return agent.shares.map((share) => shareView(agent.name, share)).reverse()
}

/** `email` is the shared address, or null for the owner, whose account may have one. */
export function accessView(
  access: AgentAccess['access'],
  email: string | null,
  account: Account | null,
  lastUse: ReadonlyMap<string, string>,
): AgentAccess {
  return {
    email: email ?? account?.email ?? null,
    username: account?.username ?? null,
    role: account?.role ?? null,
    relation: access === 'owner' ? 'owner' : 'shared',
    access,
    last_active_at: account ? (lastUse.get(account.id) ?? null) : null,
    status: account ? 'active' : 'pending',
  }
}
