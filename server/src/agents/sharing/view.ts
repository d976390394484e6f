import type { Share } from '@roost/contracts/agents/agent'
import type { AgentAccess } from '@roost/contracts/agents/sharing'
import type { z } from 'zod'
import type { Account } from '../../identity/users/index.ts'
import type { Agent, AgentShare } from '../records/index.ts'

type ShownShare = z.output<typeof Share>

export function shareView(agentName: string, { email, ...share }: AgentShare): ShownShare {
  return { ...share, agent_name: agentName, shared_with_email: email }
}

/** The newest first. */
export function sharesOf(agent: Pick<Agent, 'name' | 'shares'>): ShownShare[] {
  return agent.shares.map((share) => shareView(agent.name, share)).reverse()
}

/** `email`: the address it is shared with; null for the owner, who has the one of the account, if any. */
export function accessView(
  relation: AgentAccess['relation'],
  email: string | null,
  account: Account | null,
  lastUse: ReadonlyMap<string, string>,
): AgentAccess {
  return {
    email: email ?? account?.email ?? null,
    username: account?.username ?? null,
    role: account?.role ?? null,
    relation,
    last_active_at: account ? (lastUse.get(account.id) ?? null) : null,
    status: account ? 'active' : 'pending',
  }
}
