import { placeholderPrefix } from '@roost/contracts/link/egress'
import type { SealedColumn, SealedText, Vault } from '../../foundation/vault/index.ts'
import type { IdentityChanges } from '../../identity/access/index.ts'
import { createCache } from '../../kit/cache.ts'
import type { Clock } from '../../kit/clock.ts'
import { secret } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Bound, type Policy, readHost } from './rules.ts'
import { egressStore } from './store.ts'
import type { CredentialsTable } from './tables.ts'

/** Cached rules and credentials of each agent; the mode is in the agent's row. */
export type Policies = {
  of(agentId: string): Promise<Omit<Policy, 'mode'>>
  /** Call this after the commit; informs this and other processes. */
  changed(agentId: string): void
  /** The placeholder of an agent's variable; stable until the platform's key changes. */
  placeholder(agentId: string, name: string): string
  seal(agentId: string, name: string, value: string): SealedText
  /** The same value for another agent. */
  reseal(
    row: Pick<CredentialsTable, 'agent_id' | 'name'> & { value_sealed: SealedText },
    to: string,
  ): SealedText
}

export type PoliciesDeps = {
  db: Db
  clock: Clock
  vault: Pick<Vault, 'open' | 'seal' | 'mac' | 'earlierMacs'>
  changes: Pick<IdentityChanges, 'announce' | 'on'>
}

const contextOf = (agentId: string, name: string) => `egress-credential:${agentId}:${name}`

export function createPolicies({ db, clock, vault, changes }: PoliciesDeps): Policies {
  const cache = createCache({ clock, maxAgeSeconds: 5, maxEntries: 10_000, load })
  changes.on((change) => {
    if (change === 'all') cache.clear()
    else if ('agent_id' in change) cache.forget(({ agentId }) => agentId === change.agent_id)
  })

  const placeholder = (agentId: string, name: string) =>
    placeholderPrefix + vault.mac(`${agentId}\0${name}`, 'egress-placeholder')

  /** Processes that started before a rotation of the key, and copies of `.env`, have an earlier placeholder. */
  const placeholders = (agentId: string, name: string) => [
    placeholder(agentId, name),
    ...vault.earlierMacs(`${agentId}\0${name}`, 'egress-placeholder').map((mac) => placeholderPrefix + mac),
  ]

  function boundOf(row: CredentialsTable): Bound[] {
    if (row.value_sealed === null) return []
    // Only this feature writes these columns.
    const [hosts, places] = [JSON.parse(row.hosts) as string[], JSON.parse(row.places) as Bound['places']]
    const value = secret(vault.open(row.value_sealed, contextOf(row.agent_id, row.name)))
    const bound = { name: row.name, hosts: hosts.map(readHost), places, value }
    return placeholders(row.agent_id, row.name).map((each) => ({ ...bound, placeholder: each }))
  }

  async function load(agentId: string) {
    const store = egressStore(db)
    const [rules, credentials] = await Promise.all([store.rules(agentId), store.credentials(agentId)])
    return {
      agentId,
      rules: rules.map(({ host, port }) => ({ host, port: port === 0 ? null : port })),
      bound: credentials.flatMap(boundOf),
    }
  }

  return {
    of: async (agentId) => (await cache.get(agentId)) ?? { rules: [], bound: [] },
    changed(agentId) {
      cache.forget((entry) => entry.agentId === agentId)
      changes.announce({ agent_id: agentId })
    },
    placeholder,
    seal: (agentId, name, value) => vault.seal(value, contextOf(agentId, name)),
    reseal: ({ agent_id, name, value_sealed }, to) =>
      vault.seal(vault.open(value_sealed, contextOf(agent_id, name)), contextOf(to, name)),
  }
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'egress_credentials',
    column: 'value_sealed',
    key: ['agent_id', 'name'],
    context: ({ agent_id = '', name = '' }) => contextOf(agent_id, name),
  },
]
