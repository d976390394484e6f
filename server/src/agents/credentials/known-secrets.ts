import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import type { IdentityChanges } from '../../identity/access/index.ts'
import { createCache } from '../../kit/cache.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { agentStore } from '../records/index.ts'
import type { CredentialBytes } from './rules.ts'
import { mergeSecrets, secretsIn } from './secret-values.ts'
import { credentialsTable } from './store.ts'

/** The secrets in an agent's credentials, sealed in the database and cached here. */
export type KnownSecrets = {
  of(agentId: string): Promise<readonly string[]>
  /** Whether the agent ever had a credential. */
  hasAny(agentId: string): Promise<boolean>
  /** Adds the secrets of these files. Called before they are written, so that no stored line contains one. */
  learn(agentId: string, files: readonly CredentialBytes[]): Promise<void>
  forget(tx: Tx, agentId: string): Promise<void>
}

export type KnownSecretsDeps = {
  db: Db
  clock: Clock
  vault: Pick<Vault, 'seal' | 'open'>
  changes: Pick<IdentityChanges, 'announce' | 'on'>
}

const contextOf = (agentId: string) => `agent-credentials:${agentId}`

export function createKnownSecrets({ db, clock, vault, changes }: KnownSecretsDeps): KnownSecrets {
  const cache = createCache({
    clock,
    maxAgeSeconds: 5,
    maxEntries: 10_000,
    load: async (agentId) => ({ agentId, secrets: await read(db, agentId) }),
  })
  changes.on((change) => {
    if (change === 'all') cache.clear()
    else if ('agent_id' in change) cache.forget(({ agentId }) => agentId === change.agent_id)
  })

  async function read(executor: Db | Tx, agentId: string): Promise<string[] | null> {
    const row = await credentialsTable(executor).of(agentId)
    // Only `learn` writes the column.
    return row === null ? null : (JSON.parse(vault.open(row.secrets_sealed, contextOf(agentId))) as string[])
  }

  return {
    of: async (agentId) => (await cache.get(agentId))?.secrets ?? [],
    hasAny: async (agentId) => (await credentialsTable(db).of(agentId)) !== null,
    async learn(agentId, files) {
      const fresh = files.flatMap(({ path, bytes }) => secretsIn(path, bytes))
      await db.atomically(async (tx) => {
        // Without the lock, concurrent calls would overwrite each other's secrets. Agents still being created
        // have no lock.
        const exists = (await agentStore(tx).lock(agentId)) || (await agentStore(tx).byId(agentId)) !== null
        if (!exists) return
        const before = await read(tx, agentId)
        const secrets = mergeSecrets(fresh, before ?? [])
        if (before && secrets.join('\n') === before.join('\n')) return
        const secrets_sealed = vault.seal(JSON.stringify(secrets), contextOf(agentId))
        await credentialsTable(tx).put({
          agent_id: agentId,
          secrets_sealed,
          updated_at: timestamp(clock.now()),
        })
        tx.onCommitted(() => {
          cache.forget((entry) => entry.agentId === agentId)
          changes.announce({ agent_id: agentId })
        })
      })
    },
    forget: (tx, agentId) => credentialsTable(tx).remove(agentId),
  }
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'agent_credentials',
    column: 'secrets_sealed',
    key: ['agent_id'],
    context: ({ agent_id = '' }) => contextOf(agent_id),
  },
]
