import type { SignedIn } from '../../identity/access/index.ts'
import type { AgentAccess } from './service.ts'

/**
 * Names by id of the agents a caller can access, optionally only the one named `only`. For endpoints that
 * list something over all of a caller's agents.
 */
export async function accessibleAgentNames(
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>,
  caller: SignedIn,
  only?: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const accessible = await agentAccess.accessibleAgents(caller)
  const selected = only === undefined ? accessible : accessible.filter(({ agent }) => agent.name === only)
  return new Map(selected.map(({ agent }) => [agent.id, agent.name]))
}
