import type { ShareAccess } from '@roost/contracts/agents/agent'
import type { Caller, CallerUser, KeyCaller, Reach, Relation } from '../../identity/access/caller.ts'

type Shared = { shares: readonly { email: string }[] }
type Reachable = Shared & { id: string; owner_id: string }

/**
 * The caller's relation to an agent; null without access. `permitted` holds the ids of the agents that the
 * caller may call if it is itself an agent.
 */
export function relationOf(
  caller: Caller,
  agent: Reachable,
  permitted: ReadonlySet<string>,
): Relation | null {
  if (caller.kind === 'anonymous') return null
  if (caller.kind === 'key') {
    const { scope, agent_id } = caller.key
    if (scope === 'agent') {
      const relation = agent_id === agent.id ? 'self' : permitted.has(agent.id) ? 'permitted' : null
      return caller.run ? relationOfRun(caller, caller.run.reach, agent, relation) : relation
    }
    // Bound to one agent and never its owner. The endpoints that accept this scope limit what it may do.
    if (scope === 'connector') return agent_id === agent.id ? 'shared' : null
    if (scope === 'system') return 'admin'
  }
  return relationOfUser(caller.user, agent)
}

/** The relation of the agent's own key, limited to what the principal of the run reaches. */
function relationOfRun(
  { user }: KeyCaller,
  reach: Reach,
  agent: Reachable,
  relation: 'self' | 'permitted' | null,
): Relation | null {
  if (relation === null || reach === 'owner') return relation
  if (reach === 'guest') return 'guest'
  const own = relationOfUser(user, agent)
  if (relation === 'self') return own && 'shared'
  return own ? 'permitted' : 'guest'
}

function relationOfUser(
  { id, role, email }: CallerUser,
  agent: Reachable,
): 'owner' | 'admin' | 'shared' | null {
  if (agent.owner_id === id) return 'owner'
  if (role === 'admin') return 'admin'
  return email !== null && isSharedWith(agent, email) ? 'shared' : null
}

/** Stored addresses are lower case. */
export function isSharedWith(agent: Shared, email: string): boolean {
  return shareOf(agent, email) !== undefined
}

export function shareOf<S extends { email: string }>(
  { shares }: { shares: readonly S[] },
  email: string,
): S | undefined {
  const address = email.toLowerCase()
  return shares.find((share) => share.email === address)
}

/** False for a person with whom the agent is shared for reading. */
export function mayWrite(
  caller: Caller,
  agent: { shares: readonly { email: string; access: ShareAccess }[] },
  relation: Relation,
): boolean {
  if (relation !== 'shared' || caller.kind === 'anonymous') return true
  // A run has this relation only if its principal may write, see `reachOf` of the run keys.
  const needsNoShare = caller.kind === 'key' && ['connector', 'agent'].includes(caller.key.scope)
  const { email } = caller.user
  return needsNoShare || (email !== null && shareOf(agent, email)?.access === 'write')
}
