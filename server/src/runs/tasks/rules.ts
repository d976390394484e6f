import { isCallOnly, type Relation, type SignedIn } from '../../identity/access/caller.ts'

/**
 * Whether a caller may name a run as the parent of its task. It may be a run of the target agent for callers
 * with more than permission to call it, a run of the calling agent, or a run that the caller started. A run for
 * somebody other than the owner names only runs of its principal.
 */
export function mayName(
  reader: { caller: SignedIn; agentId: string; relation: Relation },
  parent: {
    agent_id: string
    principal: string | null
    source_user_id: string | null
    source_mcp_key_id: string | null
  },
): boolean {
  const { caller, agentId, relation } = reader
  if (caller.kind === 'key') {
    const { key } = caller
    if (parent.source_mcp_key_id === key.id || key.scope === 'system') return true
    if (key.scope === 'agent' && parent.agent_id === key.agent_id) {
      return (caller.run?.reach ?? 'owner') === 'owner' || parent.principal === key.principal
    }
    if (key.scope !== 'user') return false
  }
  if (caller.user.role === 'admin' || parent.source_user_id === caller.user.id) return true
  return parent.agent_id === agentId && !isCallOnly(relation)
}
