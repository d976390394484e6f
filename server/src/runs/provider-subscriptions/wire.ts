import type { ModelProvider } from '@roost/contracts/runs/provider-subscriptions'
import { agentStore } from '../../agents/records/index.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { type Secret, secret } from '../../kit/secret.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { subscriptionAlert } from './alert.ts'
import { bucketOf, failureOf, isFree, nextOf, type ProviderReply } from './rules.ts'
import { type SubscriptionRow, subscriptionStore, type Used } from './store.ts'

/** A subscription for the time of one request. */
export type InUse = {
  token: Secret
  used(what: Partial<Used>): Promise<void>
  /**
   * The provider has answered so. True: the credential was at fault, and the agent's next request goes out with
   * another one, so that it is worth asking again.
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
 * With what an agent asks a provider, read for each request; null: with the key of the platform. Throws
 * `VaultError` for a token that this installation's key does not open: to go on with the platform's key would
 * spend what nobody has agreed to.
 */
export function createWire({ db, clock, events, vault, alerts, isAutoSwitchOn }: WireDeps) {
  /** True when the agent is not on `row` any more. */
  async function moveOn(tx: Tx, agentId: string, row: SubscriptionRow): Promise<boolean> {
    const store = subscriptionStore(tx)
    const now = clock.now()
    const next = nextOf(await store.ofProvider(row.provider), row.id, timestamp(now))
    if (!next || !(await store.move(agentId, { from: row.id, to: next.id }, timestamp(now)))) {
      return (await store.assigned(agentId, row.provider))?.id !== row.id
    }
    const agent = await tellMoved(tx, agentId)
    if (!agent) return true
    await alerts.raise(
      tx,
      subscriptionAlert(agent, { from: row.name, to: next.name, provider: row.provider }),
    )
    return true
  }

  /** Null: the agent is gone. */
  async function tellMoved(tx: Tx, agentId: string): Promise<{ id: string; name: string } | null> {
    const agent = await agentStore(tx).byId(agentId)
    if (!agent) return null
    const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { ...event, fields: { setting: 'subscription' } }, clock.now())
    return agent
  }

  /** What somebody has chosen for the agent is asked again as soon as its limit, or its refusal, has passed. */
  async function rowFor(agentId: string, provider: ModelProvider): Promise<SubscriptionRow | null> {
    const store = subscriptionStore(db)
    const { assigned: row, home } = await store.standing(agentId, provider)
    const now = timestamp(clock.now())
    if (!row || !home || !isAutoSwitchOn() || !isFree(home, now)) return row
    await db.atomically(async (tx) => {
      const ids = { from: row.id, to: home.id }
      if (await subscriptionStore(tx).move(agentId, ids, now)) await tellMoved(tx, agentId)
    })
    // Somebody may have chosen another one meanwhile.
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
          // First the subscription's own row: whoever finds the same out at the same time waits here.
          await store.mark(
            row,
            failure.kind === 'limited' ? { limited_until: until } : { refused_until: until },
          )
          await store.addUsed(row.id, timestamp(bucketOf(clock.now())), { failures: 1 })
          return isAutoSwitchOn() ? moveOn(tx, agentId, row) : false
        })
      },
    }
  }
}

/** What the vault binds a token to: sealed text moved to another row does not open. */
export function tokenContext(id: string): string {
  return `provider-subscription:${id}`
}
