import { isSharedWith } from '../../agents/reach/index.ts'
import type { Users } from '../../identity/users/index.ts'
import type { ReachesAgent } from './ports.ts'

/** Of the agent's owner or of somebody it is shared with, who has an account that is not suspended. */
export function createReachesAgent(users: Pick<Users, 'findLogin'>): ReachesAgent {
  return async (agent, email) => {
    const account = (await users.findLogin(email))?.account
    if (account?.email?.toLowerCase() !== email || account.suspended_at !== null) return false
    return account.id === agent.owner_id || isSharedWith(agent, email)
  }
}
