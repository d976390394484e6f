import type { Runtime } from '@roost/contracts/agents/agent'
import type {
  AgentAuth,
  ModelProvider,
  Subscription,
  SubscriptionUsage,
} from '@roost/contracts/runs/provider-subscriptions'
import { agentStore } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import { secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault, invalidField } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Secret } from '../../kit/secret.ts'
import type { Executor, Tx } from '../../ports/database/port.ts'
import { dollars } from '../executions/index.ts'
import { authModeOf, isAfter, providerOfRuntime } from './rules.ts'
import { type SubscriptionRow, subscriptionStore, type Used } from './store.ts'
import { createWire, type InUse, tokenContext, type WireDeps } from './wire.ts'

type NamedAgent = { id: string; name: string }
export type AuthOf = Omit<AgentAuth, 'agent_name'>

export type ProviderSubscriptionsDeps = WireDeps & {
  vault: Pick<Vault, 'open' | 'seal'>
  /** The key that the platform pays with; null when none is configured. */
  providerKey(provider: ModelProvider): Secret | null
}

type Given = Pick<SubscriptionRow, 'name' | 'provider' | 'subscription_type' | 'rate_limit_tier'> & {
  token: Secret
}

export type ProviderSubscriptions = {
  /** In the order of their names. */
  list(): Promise<Subscription[]>
  /** The same name replaces. Throws `conflict` for another provider under agents that use it. */
  put(given: Given): Promise<Subscription>
  /** By id or name. Names of the agents that used it. Throws `not_found`. */
  remove(idOrName: string): Promise<{ name: string; agents: string[] }>
  /** By id or name. Throws `not_found`. */
  usage(idOrName: string): Promise<SubscriptionUsage>
  /** Throws `not_found`, and `validation_error` for another provider than the runtime's. */
  assign(agent: NamedAgent, name: string): Promise<void>
  clear(agent: NamedAgent): Promise<void>
  /** With what the runtime of each agent asks its provider, by the agents' ids. */
  auth(agents: readonly { id: string; runtime: Runtime }[]): Promise<ReadonlyMap<string, AuthOf>>
  /** The same of one. Throws `agent_not_found`. */
  authOf(agentId: string): Promise<AuthOf>
  /** For the broker alone. */
  inUse(agentId: string, provider: ModelProvider): Promise<InUse | null>
  loops: Loop[]
}

const unmarked = { limited_until: null, refused_until: null }

export function createProviderSubscriptions(deps: ProviderSubscriptionsDeps): ProviderSubscriptions {
  const { db, clock, events, vault, providerKey } = deps
  const now = () => timestamp(clock.now())

  async function tellAgents(tx: Tx, agents: readonly NamedAgent[]): Promise<void> {
    for (const { id, name } of agents) {
      const event = { type: 'agent.settings_changed', agent_names: [name], agent_ids: [id] }
      await events.append(tx, { ...event, fields: { setting: 'subscription' } }, clock.now())
    }
  }

  async function auth(agents: readonly { id: string; runtime: Runtime }[]) {
    const store = subscriptionStore(db)
    const [rows, assignments] = await Promise.all([store.all(), store.assignments()])
    const byId = new Map(rows.map((row) => [row.id, row]))
    const used = new Map(assignments.map((each) => [each.agent_id, byId.get(each.subscription_id)]))
    return new Map(agents.map(({ id, runtime }) => [id, authIn(runtime, used.get(id))]))
  }

  /** An assignment from before the agent had another runtime counts for nothing. */
  function authIn(runtime: Runtime, row: SubscriptionRow | undefined): AuthOf {
    const provider = providerOfRuntime(runtime)
    const subscription = row?.provider === provider ? row : null
    const has_api_key = providerKey(provider) !== null
    return {
      auth_mode: authModeOf({ subscription: subscription !== null, apiKey: has_api_key }),
      subscription_name: subscription?.name ?? null,
      has_api_key,
    }
  }

  return {
    async list() {
      const store = subscriptionStore(db)
      const [rows, assignments] = await Promise.all([store.all(), store.assignments()])
      const agents = await agentStore(db).all()
      const byId = new Map(agents.map((agent) => [agent.id, agent.name]))
      const users = Map.groupBy(assignments, (each) => each.subscription_id)
      return rows.map((row) =>
        view(
          row,
          (users.get(row.id) ?? []).map((each) => byId.get(each.agent_id)),
        ),
      )
    },

    put: (given) => db.atomically(async (tx) => (await addIn(tx, given)) ?? replaceIn(tx, given)),

    async remove(idOrName) {
      return db.atomically(async (tx) => {
        const store = subscriptionStore(tx)
        const { id, name } = await found(tx, idOrName)
        if (!(await store.lock(id))) throw missing()
        const agents = await namedAgents(tx, await store.agentsOf(id))
        await store.remove(id)
        await tellAgents(tx, agents)
        return { name, agents: agents.map((agent) => agent.name) }
      })
    },

    async usage(idOrName) {
      const { id, limited_until } = await found(db, idOrName)
      const store = subscriptionStore(db)
      const since = (hours: number) => store.used(id, timestamp(secondsLater(clock.now(), -hours * 3600)))
      const [short, long, day, agents] = await Promise.all([
        since(5),
        since(7 * 24),
        since(24),
        store.agentsOf(id).then((ids) => namedAgents(db, ids)),
      ])
      return {
        subscription_id: id,
        window_5h: windowOf(short),
        window_7d: windowOf(long),
        agents: agents.map(({ name }) => name),
        failure_events_24h: day.failures,
        rate_limited_now: isAfter(limited_until, now()),
      }
    },

    async assign(agent, name) {
      await db.atomically(async (tx) => {
        const store = subscriptionStore(tx)
        const named = await store.byName(name)
        const row = named && (await store.lock(named.id))
        if (!row) throw missing()
        const runtime = (await agentStore(tx).byId(agent.id))?.runtime
        if (!runtime) throw new Fault('agent_not_found')
        const provider = providerOfRuntime(runtime)
        if (row.provider !== provider)
          throw invalidField(['subscription_name'], `is of ${row.provider}; ${runtime} asks ${provider}`)
        await store.assign(agent.id, row.id, now())
        await tellAgents(tx, [agent])
      })
    },

    async clear(agent) {
      await db.atomically(async (tx) => {
        if (await subscriptionStore(tx).clear(agent.id)) await tellAgents(tx, [agent])
      })
    },

    auth,
    async authOf(agentId) {
      const agent = await agentStore(db).byId(agentId)
      const found = agent && (await auth([agent])).get(agent.id)
      if (!found) throw new Fault('agent_not_found')
      return found
    },

    inUse: createWire(deps),
    loops: [
      {
        name: 'provider-subscriptions.usage',
        everySeconds: 3600,
        run: () => subscriptionStore(db).forgetUsed(timestamp(secondsLater(clock.now(), -8 * 86_400))),
      },
    ],
  }

  /** Null when the name is taken. */
  async function addIn(tx: Tx, { token, ...given }: Given): Promise<Subscription | null> {
    const [id, at] = [newId(), now()]
    const made = { sealed_token: sealed(id, token), created_at: at, updated_at: at }
    const row = { id, ...given, ...unmarked, ...made }
    return (await subscriptionStore(tx).insert(row)) ? view(row, []) : null
  }

  /** What the old token was marked with says nothing of the new one. */
  async function replaceIn(tx: Tx, { token, ...given }: Given): Promise<Subscription> {
    const store = subscriptionStore(tx)
    const named = await store.byName(given.name)
    const present = named && (await store.lock(named.id))
    if (!present) throw new Fault('conflict', `"${given.name}" was just deleted; add it again.`)
    const agents = await namedAgents(tx, await store.agentsOf(present.id))
    if (present.provider !== given.provider && agents.length > 0)
      throw new Fault('conflict', `Agents use "${given.name}", which is of ${present.provider}.`)
    const patch = { ...given, ...unmarked, sealed_token: sealed(present.id, token), updated_at: now() }
    await store.replace(present.id, patch)
    const names = agents.map(({ name }) => name)
    return view({ ...present, ...patch }, names)
  }

  function sealed(id: string, token: Secret): string {
    return vault.seal(token.reveal(), tokenContext(id))
  }
}

async function found(executor: Executor, idOrName: string): Promise<SubscriptionRow> {
  const store = subscriptionStore(executor)
  const row = (await store.byId(idOrName)) ?? (await store.byName(idOrName))
  if (!row) throw missing()
  return row
}

function missing(): Fault {
  return new Fault('not_found', 'There is no such subscription.')
}

/** In the order of their names, without those that are gone. */
async function namedAgents(executor: Executor, ids: readonly string[]): Promise<NamedAgent[]> {
  if (ids.length === 0) return []
  const agents = await agentStore(executor).all()
  return agents.filter(({ id }) => ids.includes(id)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function view(row: SubscriptionRow, names: readonly (string | undefined)[]): Subscription {
  const { id, name, provider, subscription_type, rate_limit_tier, created_at, updated_at } = row
  const agents = names.flatMap((each) => each ?? []).sort()
  const agent_count = agents.length
  return {
    id,
    name,
    provider,
    subscription_type,
    rate_limit_tier,
    created_at,
    updated_at,
    agent_count,
    agents,
  }
}

function windowOf({
  input_tokens,
  output_tokens,
  cost_micros,
  cost_estimated,
  requests,
}: Used): SubscriptionUsage['window_5h'] {
  return {
    input_tokens,
    output_tokens,
    cost_usd: dollars(cost_micros) ?? 0,
    cost_estimated: cost_estimated === 1,
    message_count: requests,
  }
}
