import type { Relation, SignedIn } from '../../identity/access/caller.ts'

/**
 * Whether a caller may name a run as the parent of its task: one of the agent that it asks, when it reaches
 * that as more than a guest; one of the agent that it is; or one that it caused itself.
 */
export function mayName(
  reader: { caller: SignedIn; agentId: string; relation: Relation },
  parent: { agent_id: string; source_user_id: string | null; source_mcp_key_id: string | null },
): boolean {
  const { caller, agentId, relation } = reader
  if (caller.kind === 'key') {
    const { key } = caller
    if (parent.source_mcp_key_id === key.id || key.scope === 'system') return true
    if (key.scope === 'agent' && parent.agent_id === key.agent_id) return true
    if (key.scope !== 'user') return false
  }
  if (caller.user.role === 'admin' || parent.source_user_id === caller.user.id) return true
  return parent.agent_id === agentId && relation !== 'permitted'
}
