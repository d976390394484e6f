import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { ModelProvider } from '@roost/contracts/runs/provider-subscriptions'
import { agentStore } from '../../agents/records/index.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { SealedColumn, Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { type Secret, secret } from '../../kit/secret.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { bucketOf, failureOf, isFree, nextOf, type ProviderReply } from './rules.ts'
import { type SubscriptionRow, subscriptionStore, type Used } from './store.ts'

/** A subscription during one request. */
export type InUse = {
  token: Secret
  used(what: Partial<Used>): Promise<void>
  /**
   * Handles the provider's response. Returns true when the credential failed and the agent's next request
   * uses another one, so that a retry is useful.
   */
  answered(reply: ProviderReply): Promise<boolean>
}

export type WireDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  vault: Pick<Vault, 'open'>
  alerts: Pick<Alerts, 'raise'>
  /** The setting `subscription_auto_switch`. */
  isAutoSwitchOn(): boolean
}

/**
 * Returns the subscription for a request, read each time; null for the platform key. Throws `VaultError` for
 * a token that this installation cannot unseal: the platform key would spend money that nobody agreed to.
 */
export function createWire({ db, clock, events, vault, alerts, isAutoSwitchOn }: WireDeps) {
  /** Returns true when the agent no longer uses `row`. */
  async function switchFrom(tx: Tx, agentId: string, row: SubscriptionRow): Promise<boolean> {
    const store = subscriptionStore(tx)
    const now = clock.now()
    const next = nextOf(await store.ofProvider(row.provider), row.id, timestamp(now))
    if (!next || !(await store.move(agentId, { from: row.id, to: next.id }, timestamp(now)))) {
      return (await store.assigned(agentId, row.provider))?.id !== row.id
    }
    const agent = await announceSwitch(tx, agentId)
    if (!agent) return true
    await alerts.raise(
      tx,
      subscriptionAlert(agent, { from: row.name, to: next.name, provider: row.provider }),
    )
    return true
  }

  /** Returns null when the agent was deleted. */
  async function announceSwitch(tx: Tx, agentId: string): Promise<{ id: string; name: string } | null> {
    const agent = await agentStore(tx).byId(agentId)
    if (!agent) return null
    const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { ...event, fields: { setting: 'subscription' } }, clock.now())
    return agent
  }

  /** Returns to the assigned subscription as soon as its limit or refusal has passed. */
  async function rowFor(agentId: string, provider: ModelProvider): Promise<SubscriptionRow | null> {
    const store = subscriptionStore(db)
    const { assigned: row, home } = await store.currentAndHome(agentId, provider)
    const now = timestamp(clock.now())
    if (!row || !home || !isAutoSwitchOn() || !isFree(home, now)) return row
    await db.atomically(async (tx) => {
      const ids = { from: row.id, to: home.id }
      if (await subscriptionStore(tx).move(agentId, ids, now)) await announceSwitch(tx, agentId)
    })
    // Another assignment may have happened meanwhile.
    return store.assigned(agentId, provider)
  }

  return async (agentId: string, provider: ModelProvider): Promise<InUse | null> => {
    const row = await rowFor(agentId, provider)
    if (!row) return null
    return {
      token: secret(vault.open(row.sealed_token, tokenContext(row.id))),
      used: (what) => subscriptionStore(db).addUsed(row.id, timestamp(bucketOf(clock.now())), what),
      async answered(reply) {
        const failure = failureOf(reply, clock.now())
        if (!failure) return false
        const until = timestamp(failure.until)
        return db.atomically(async (tx) => {
          const store = subscriptionStore(tx)
          // Lock the subscription's row first: concurrent failures of the same subscription wait here.
          await store.mark(
            row,
            failure.kind === 'limited' ? { limited_until: until } : { refused_until: until },
          )
          await store.addUsed(row.id, timestamp(bucketOf(clock.now())), { failures: 1 })
          return isAutoSwitchOn() ? switchFrom(tx, agentId, row) : false
        })
      },
    }
  }
}

/** Context that the vault binds a token to: sealed text moved to another row cannot be unsealed. */
export function tokenContext(id: string): string {
  return `provider-subscription:${id}`
}

export function subscriptionAlert(
  agent: { id: string; name: string },
  change: { from: string; to: string; provider: string },
): PlatformAlert {
  return {
    agentId: agent.id,
    kind: 'subscription_switched',
    title: `${agent.name} moved from subscription ${change.from} to ${change.to}`,
    question: `The provider (${change.provider}) limits or refuses "${change.from}". The agent uses "${change.to}" and switches back when the limit has passed. Assign another subscription to keep it there.`,
    priority: 'medium',
    context: change,
  }
}

export const sealedColumns: SealedColumn[] = [
  {
    table: 'provider_subscriptions',
    column: 'sealed_token',
    key: ['id'],
    context: ({ id = '' }) => tokenContext(id),
  },
]
