import { type Provider, type ProviderKey, providers } from '@roost/contracts/foundation/settings'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { type Secret, secret, shownPart } from '../../kit/secret.ts'
import type { Db } from '../../ports/database/port.ts'
import type { Ephemeral } from '../../ports/ephemeral/port.ts'
import type { Log } from '../../ports/log.ts'
import type { SealedColumn, Vault } from '../vault/index.ts'
import { createRefresh } from './refresh.ts'
import { type ProviderKeyRow, settingStore } from './store.ts'

export type ProviderKeys = {
  /** The stored key, else the key of the environment, else null. */
  providerKey(provider: Provider): Secret | null
  list(): ProviderKey[]
  put(provider: Provider, key: string): Promise<ProviderKey>
  remove(provider: Provider): Promise<ProviderKey>
  /** Stores the result of a test, if the tested key is the stored one. */
  noteTest(provider: Provider, tested: Secret, isOk: boolean): Promise<void>
  /** Reads changes of other processes. */
  refresh(): Promise<void>
}

export const providerKeysTopic = 'provider-keys'

export function createProviderKeys(deps: {
  db: Db
  vault: Vault
  ephemeral: Pick<Ephemeral, 'publish'>
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'error'>
  environment: Record<Provider, Secret | null>
}): ProviderKeys {
  const { db, vault, ephemeral, clock, log, environment } = deps
  const store = settingStore(db)
  let stored = new Map<string, { row: ProviderKeyRow; key: Secret }>()

  const refresh = createRefresh(async () => {
    const rows = await store.providerKeys()
    stored = new Map(rows.flatMap((row) => openRow(row)))
  })

  /** Ignores a key that cannot be unsealed, so that the rest of the platform works. */
  const openRow = (row: ProviderKeyRow): [string, { row: ProviderKeyRow; key: Secret }][] => {
    const known = stored.get(row.provider)
    if (known?.row.sealed_key === row.sealed_key) return [[row.provider, { row, key: known.key }]]
    try {
      return [[row.provider, { row, key: secret(vault.open(row.sealed_key, contextOf(row.provider))) }]]
    } catch (error) {
      log.error({ provider: row.provider, err: error }, 'the stored key of a provider cannot be opened')
      return []
    }
  }

  const view = (provider: Provider): ProviderKey => {
    const own = stored.get(provider)
    const fallback = environment[provider]
    return {
      provider,
      configured: own !== undefined || fallback !== null,
      source: own ? 'stored' : fallback ? 'env' : 'none',
      // Not the stored hint, which in an earlier version had four characters even of short keys.
      hint: hintOf(own?.key ?? fallback),
      last_tested_at: own?.row.last_tested_at ?? null,
      last_test_ok: own?.row.last_test_ok == null ? null : own.row.last_test_ok === 1,
    }
  }

  const changed = async (provider: Provider) => {
    await refresh()
    // If this message is lost, other processes read the change in their refresh loop.
    ephemeral.publish(providerKeysTopic, provider).catch(() => {})
    return view(provider)
  }

  return {
    providerKey: (provider) => stored.get(provider)?.key ?? environment[provider],
    list: () => providers.map(view),
    async put(provider, key) {
      await store.putProviderKey({
        provider,
        sealed_key: vault.seal(key, contextOf(provider)),
        hint: hintOf(secret(key)) ?? '',
        updated_at: timestamp(clock.now()),
        last_tested_at: null,
        last_test_ok: null,
      })
      return changed(provider)
    },
    async remove(provider) {
      await store.removeProviderKey(provider)
      return changed(provider)
    },
    async noteTest(provider, tested, isOk) {
      const own = stored.get(provider)
      if (own?.key !== tested) return
      await store.noteTest(provider, own.row.sealed_key, timestamp(clock.now()), isOk)
      await changed(provider)
    },
    refresh,
  }
}

function contextOf(provider: string): string {
  return `provider-key:${provider}`
}

function hintOf(key: Secret | null): string | null {
  return key && shownPart(key.reveal(), 'end', 4)
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'provider_keys',
    column: 'sealed_key',
    key: ['provider'],
    context: ({ provider = '' }) => contextOf(provider),
  },
]
