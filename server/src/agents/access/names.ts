import type { SignedIn } from '../../identity/access/index.ts'
import type { AgentAccess } from './service.ts'

/**
 * Names by id of the agents that a caller reaches; of the one named `only`, when it is among them. For what
 * agents have and callers list over all of them.
 */
export async function accessibleAgentNames(
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>,
  caller: SignedIn,
  only?: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const reached = await agentAccess.accessibleAgents(caller)
  const wanted = only === undefined ? reached : reached.filter(({ agent }) => agent.name === only)
  return new Map(wanted.map(({ agent }) => [agent.id, agent.name]))
}
