import type { ModelProvider } from '@roost/contracts/runs/provider-subscriptions'
import { sql } from 'kysely'
import type { SealedText } from '../../foundation/vault/index.ts'
import type { Executor } from '../../ports/database/port.ts'

export type ProviderSubscriptionsTable = {
  id: string
  name: string
  provider: ModelProvider
  sealed_token: SealedText
  subscription_type: string | null
  rate_limit_tier: string | null
  /** The provider has limited it until then. */
  limited_until: string | null
  /** The provider has refused the token; agents do not move to it until then. */
  refused_until: string | null
  created_at: string
  updated_at: string
}

/** Agents without a row use the platform key. */
export type AgentProviderSubscriptionsTable = {
  agent_id: string
  subscription_id: string
  assigned_at: string
  /** The subscription a person assigned, while the agent is on another one; null while it is on it. */
  home_id: string | null
}

/** Usage in the bucket that starts at `began_at`. PostgreSQL returns sums and bigints as text. */
export type ProviderSubscriptionUsageTable = {
  subscription_id: string
  began_at: string
  requests: number
  input_tokens: number
  output_tokens: number
  cost_micros: number
  /** 1: part of the cost is an estimate. */
  cost_estimated: number
  /** Requests that were limited or refused. */
  failures: number
}

type Tables = {
  provider_subscriptions: ProviderSubscriptionsTable
  agent_provider_subscriptions: AgentProviderSubscriptionsTable
  provider_subscription_usage: ProviderSubscriptionUsageTable
}

export type SubscriptionRow = ProviderSubscriptionsTable
export type Used = Omit<ProviderSubscriptionUsageTable, 'subscription_id' | 'began_at'>

export function subscriptionStore(executor: Executor) {
  const db = executor.withTables<Tables>()

  async function used(id: string, since: string): Promise<Used> {
    const row = await db
      .selectFrom('provider_subscription_usage')
      .select((e) => [
        e.fn.sum<number | string | null>('requests').as('requests'),
        e.fn.sum<number | string | null>('input_tokens').as('input_tokens'),
        e.fn.sum<number | string | null>('output_tokens').as('output_tokens'),
        e.fn.sum<number | string | null>('cost_micros').as('cost_micros'),
        e.fn.sum<number | string | null>('failures').as('failures'),
        e.fn.max<number | null>('cost_estimated').as('cost_estimated'),
      ])
      .where('subscription_id', '=', id)
      .where('began_at', '>', since)
      .executeTakeFirstOrThrow()
    return {
      requests: Number(row.requests ?? 0),
      input_tokens: Number(row.input_tokens ?? 0),
      output_tokens: Number(row.output_tokens ?? 0),
      cost_micros: Number(row.cost_micros ?? 0),
      cost_estimated: row.cost_estimated ?? 0,
      failures: Number(row.failures ?? 0),
    }
  }

  /**
   * The subscription that the agent uses now and the one it returns to. One statement reads both, so that
   * they are consistent.
   */
  async function currentAndHome(
    agentId: string,
    provider: ModelProvider,
  ): Promise<{ assigned: SubscriptionRow | null; home: SubscriptionRow | null }> {
    const rows = await db
      .selectFrom('agent_provider_subscriptions as a')
      .innerJoin('provider_subscriptions as s', (join) =>
        join.on((e) =>
          e.or([e('s.id', '=', e.ref('a.subscription_id')), e('s.id', '=', e.ref('a.home_id'))]),
        ),
      )
      .selectAll('s')
      .select('a.subscription_id')
      .where('a.agent_id', '=', agentId)
      .where('s.provider', '=', provider)
      .execute()
    return {
      assigned: rows.find((row) => row.id === row.subscription_id) ?? null,
      home: rows.find((row) => row.id !== row.subscription_id) ?? null,
    }
  }

  return {
    used,

    /** By name. Sorted here, so that the order is the same in each dialect. */
    async all(): Promise<SubscriptionRow[]> {
      const rows = await db.selectFrom('provider_subscriptions').selectAll().execute()
      return rows.sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    ofProvider(provider: ModelProvider): Promise<SubscriptionRow[]> {
      return db.selectFrom('provider_subscriptions').selectAll().where('provider', '=', provider).execute()
    },

    async byName(name: string): Promise<SubscriptionRow | null> {
      const query = db.selectFrom('provider_subscriptions').selectAll().where('name', '=', name)
      return (await query.executeTakeFirst()) ?? null
    },

    async byId(id: string): Promise<SubscriptionRow | null> {
      const query = db.selectFrom('provider_subscriptions').selectAll().where('id', '=', id)
      return (await query.executeTakeFirst()) ?? null
    },

    /** Returns false when the name exists. */
    async insert(row: SubscriptionRow): Promise<boolean> {
      const result = await db
        .insertInto('provider_subscriptions')
        .values(row)
        .onConflict((conflict) => conflict.column('name').doNothing())
        .executeTakeFirst()
      return Number(result.numInsertedOrUpdatedRows ?? 0) === 1
    },

    /**
     * Blocks other changes, deletions and assignments until the transaction ends. Null when it does not
     * exist.
     */
    async lock(id: string): Promise<SubscriptionRow | null> {
      const row = await db
        .updateTable('provider_subscriptions')
        .set((e) => ({ updated_at: e.ref('updated_at') }))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row ?? null
    },

    async replace(id: string, patch: Partial<SubscriptionRow>): Promise<void> {
      await db.updateTable('provider_subscriptions').set(patch).where('id', '=', id).execute()
    },

    async remove(id: string): Promise<void> {
      await db.deleteFrom('provider_subscriptions').where('id', '=', id).execute()
    },

    /** Marks the token as limited or refused, unless it was replaced. */
    async mark(
      { id, sealed_token }: Pick<SubscriptionRow, 'id' | 'sealed_token'>,
      patch: { limited_until: string } | { refused_until: string },
    ): Promise<void> {
      await db
        .updateTable('provider_subscriptions')
        .set(patch)
        .where('id', '=', id)
        .where('sealed_token', '=', sealed_token)
        .execute()
    },

    assignments(): Promise<AgentProviderSubscriptionsTable[]> {
      return db.selectFrom('agent_provider_subscriptions').selectAll().execute()
    },

    /** The subscription that a person assigned; null for the platform key. */
    async homeOf(agentId: string): Promise<string | null> {
      const row = await db
        .selectFrom('agent_provider_subscriptions')
        .select(['subscription_id', 'home_id'])
        .where('agent_id', '=', agentId)
        .executeTakeFirst()
      return row ? (row.home_id ?? row.subscription_id) : null
    },

    async agentsOf(id: string): Promise<string[]> {
      const query = db.selectFrom('agent_provider_subscriptions').select('agent_id')
      return (await query.where('subscription_id', '=', id).execute()).map((row) => row.agent_id)
    },

    currentAndHome,

    /** The subscription that the agent uses with this provider; null for the platform key. */
    async assigned(agentId: string, provider: ModelProvider): Promise<SubscriptionRow | null> {
      return (await currentAndHome(agentId, provider)).assigned
    },

    async assign(agentId: string, subscriptionId: string, now: string): Promise<void> {
      const patch = { subscription_id: subscriptionId, assigned_at: now, home_id: null }
      await db
        .insertInto('agent_provider_subscriptions')
        .values({ agent_id: agentId, ...patch })
        .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(patch))
        .execute()
    },

    /**
     * Returns true for only one of several concurrent moves away from the same subscription; remembers the
     * first one as home.
     */
    async move(agentId: string, ids: { from: string; to: string }, now: string): Promise<boolean> {
      const result = await db
        .updateTable('agent_provider_subscriptions')
        .set({
          subscription_id: ids.to,
          assigned_at: now,
          home_id: sql`nullif(coalesce(home_id, subscription_id), cast(${ids.to} as text))`,
        })
        .where('agent_id', '=', agentId)
        .where('subscription_id', '=', ids.from)
        .executeTakeFirst()
      return Number(result.numUpdatedRows) === 1
    },

    /** Returns false when nothing was assigned. */
    async clear(agentId: string): Promise<boolean> {
      const query = db.deleteFrom('agent_provider_subscriptions').where('agent_id', '=', agentId)
      return Number((await query.executeTakeFirst()).numDeletedRows) === 1
    },

    /** Adds nothing when the subscription was deleted meanwhile. */
    async addUsed(id: string, beganAt: string, used: Partial<Used>): Promise<void> {
      const { requests = 0, input_tokens = 0, output_tokens = 0, cost_micros = 0, failures = 0 } = used
      const { cost_estimated = 0 } = used
      await sql`
        insert into provider_subscription_usage
          (subscription_id, began_at, requests, input_tokens, output_tokens, cost_micros, failures, cost_estimated)
        select id, cast(${beganAt} as text), cast(${requests} as integer), cast(${input_tokens} as bigint),
          cast(${output_tokens} as bigint), cast(${cost_micros} as bigint), cast(${failures} as integer),
          cast(${cost_estimated} as integer)
        from provider_subscriptions where id = ${id}
        on conflict (subscription_id, began_at) do update set
          requests = provider_subscription_usage.requests + excluded.requests,
          input_tokens = provider_subscription_usage.input_tokens + excluded.input_tokens,
          output_tokens = provider_subscription_usage.output_tokens + excluded.output_tokens,
          cost_micros = provider_subscription_usage.cost_micros + excluded.cost_micros,
          failures = provider_subscription_usage.failures + excluded.failures,
          cost_estimated = case when excluded.cost_estimated = 1 then 1
            else provider_subscription_usage.cost_estimated end`.execute(db)
    },

    async deleteUsage(before: string): Promise<void> {
      await db.deleteFrom('provider_subscription_usage').where('began_at', '<', before).execute()
    },
  }
}
