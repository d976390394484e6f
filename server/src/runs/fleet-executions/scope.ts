import type { AgentAccess, ResolvedAgent } from '../../agents/access/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { isAdmin, seesOwnRunsOnly, unknownFilter } from '../executions/index.ts'
import { type Visible, visibleTo } from './rules.ts'
import type { fleetStore } from './store.ts'

/** The agents that a caller may access, and the runs that it sees. */
export type Scope = { accessible: ResolvedAgent[]; visible: Visible }

/** Decides which runs a caller sees in lists and figures of the fleet. */
export function createScope({
  agentAccess,
  store,
  hiddenAgents,
}: {
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
  /** Ids of forks of attempts, whose runs nobody sees until they belong to the source. */
  hiddenAgents(): Promise<readonly string[]>
  store: Pick<ReturnType<typeof fleetStore>, 'deletedAgents'>
}) {
  async function scopeOf(caller: SignedIn): Promise<Scope> {
    const accessible = await agentAccess.accessibleAgents(caller)
    const visible = visibleTo({
      isAdmin: isAdmin(caller),
      hidden: await hiddenAgents(),
      keyId: caller.kind === 'key' ? caller.key.id : null,
      agents: accessible.map(({ agent, relation }) => ({
        id: agent.id,
        ownRunsOnly: seesOwnRunsOnly(caller, relation),
      })),
    })
    return { accessible, visible }
  }

  return {
    scopeOf,

    /** Limits the scope to one agent; admins may name a deleted one. An existing agent takes precedence. */
    async narrowed(caller: SignedIn, name: string | undefined): Promise<Scope> {
      const scope = await scopeOf(caller)
      if (name === undefined) return scope
      const accessible = scope.accessible.filter(({ agent }) => agent.name === name)
      const [found] = accessible
      if (found) {
        const visible = visibleTo({
          isAdmin: false,
          hidden: [],
          keyId: caller.kind === 'key' ? caller.key.id : null,
          agents: [{ id: found.agent.id, ownRunsOnly: seesOwnRunsOnly(caller, found.relation) }],
        })
        return { accessible, visible }
      }
      const deleted = isAdmin(caller) ? await store.deletedAgents(name) : null
      if (!deleted?.size) {
        const names = scope.accessible.map(({ agent }) => agent.name)
        throw unknownFilter('agent', name, names)
      }
      return { accessible: [], visible: { agentIds: [...deleted.keys()], own: null } }
    },
  }
}
