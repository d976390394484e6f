import type { Vault } from '../../foundation/vault/index.ts'
import type { IdentityChanges } from '../../identity/access/index.ts'
import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import type { AgentAccess } from '../access/index.ts'
import { agentKeyContext } from '../lifecycle/index.ts'
import { agentStore } from '../records/index.ts'

export type RunContextCache = {
  /** Ids of the agents it may call, for prompts only; each call checks `agentAccess` again. */
  targetsOf(agentId: string): Promise<ReadonlySet<string>>
  /** The agent's own key; null before it has one. */
  keyOf(agentId: string): Promise<string | null>
}

const maxCachedAgents = 10_000

/** Caches data that every run needs and that rarely changes. */
export function createRunContextCache(deps: {
  db: Db
  clock: Clock
  vault: Pick<Vault, 'open'>
  changes: Pick<IdentityChanges, 'on'>
  agentAccess: Pick<AgentAccess, 'permittedTargets'>
}): RunContextCache {
  const { db, clock, vault, changes, agentAccess } = deps
  const targets = createCache({
    clock,
    maxAgeSeconds: 5,
    maxEntries: maxCachedAgents,
    load: async (agentId) => ({ agentId, ids: await agentAccess.permittedTargets(agentId) }),
  })
  // A new key is stored and announced before an agent can connect with it, so a cached key is never outdated
  // in use.
  const keys = createCache({
    clock,
    maxAgeSeconds: 5,
    maxEntries: maxCachedAgents,
    async load(agentId) {
      const sealed = await agentStore(db).sealedKey(agentId)
      return sealed === null ? null : vault.open(sealed, agentKeyContext(agentId))
    },
  })
  changes.on((change) => {
    if (change === 'all' || 'key_id' in change || 'agent_id' in change) keys.clear()
    if (change === 'all') targets.clear()
    else if ('agent_id' in change) targets.forget(({ agentId }) => agentId === change.agent_id)
  })
  return {
    targetsOf: async (agentId) => (await targets.get(agentId))?.ids ?? new Set(),
    keyOf: (agentId) => keys.get(agentId),
  }
}
