import type { Caller, Relation } from '../../identity/access/caller.ts'

type Shared = { shares: readonly { email: string }[] }
type Reachable = Shared & { id: string; owner_id: string }

/**
 * How a caller stands to an agent; null when it cannot reach it. `permitted` holds the ids of the agents
 * that the caller, when it is an agent, may call.
 */
export function relationOf(
  caller: Caller,
  agent: Reachable,
  permitted: ReadonlySet<string>,
): Relation | null {
  if (caller.kind === 'anonymous') return null
  if (caller.kind === 'key') {
    const { scope, agent_id } = caller.key
    if (scope === 'agent')
      return agent_id === agent.id ? 'self' : permitted.has(agent.id) ? 'permitted' : null
    // Bound to one agent and never its owner: what it may there is fenced by the endpoints that name it.
    if (scope === 'connector') return agent_id === agent.id ? 'shared' : null
    if (scope === 'system') return 'admin'
  }
  const { id, role, email } = caller.user
  if (agent.owner_id === id) return 'owner'
  if (role === 'admin') return 'admin'
  return email !== null && isSharedWith(agent, email) ? 'shared' : null
}

/** Addresses are compared lower-cased. */
export function isSharedWith(agent: Shared, email: string): boolean {
  const wanted = email.toLowerCase()
  return agent.shares.some((share) => share.email === wanted)
}
