import type { Runtime } from '@roost/contracts/agents/agent'
import type {
  AgentAuth,
  ModelProvider,
  Subscription,
  SubscriptionUsage,
} from '@roost/contracts/runs/provider-subscriptions'
import { agentStore } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { SealedText, Vault } from '../../foundation/vault/index.ts'
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
  /** The platform's own key; null when none is configured. */
  providerKey(provider: ModelProvider): Secret | null
}

type SubscriptionInput = Pick<
  SubscriptionRow,
  'name' | 'provider' | 'subscription_type' | 'rate_limit_tier'
> & {
  token: Secret
}

export type ProviderSubscriptions = {
  /** By name. */
  list(): Promise<Subscription[]>
  /** Adds or replaces by name. Throws `conflict` for a provider change while agents use it. */
  put(input: SubscriptionInput): Promise<Subscription>
  /** By id or name. Returns the agents that used it. Throws `not_found`. */
  remove(idOrName: string): Promise<{ name: string; agents: string[] }>
  /** By id or name. Throws `not_found`. */
  usage(idOrName: string): Promise<SubscriptionUsage>
  /** Throws `not_found`, and `validation_error` when the runtime uses another provider. */
  assign(agent: NamedAgent, name: string): Promise<void>
  /** Assigns the subscription of one agent to a new one. */
  copy(tx: Tx, from: string, to: string): Promise<void>
  clear(agent: NamedAgent): Promise<void>
  /** The auth mode of each agent, by agent id. */
  auth(agents: readonly { id: string; runtime: Runtime }[]): Promise<ReadonlyMap<string, AuthOf>>
  /** The auth mode of one agent. Throws `agent_not_found`. */
  authOf(agentId: string): Promise<AuthOf>
  /** Only for the broker. */
  inUse(agentId: string, provider: ModelProvider): Promise<InUse | null>
  loops: Loop[]
}

const unmarked = { limited_until: null, refused_until: null }

export function createProviderSubscriptions(deps: ProviderSubscriptionsDeps): ProviderSubscriptions {
  const { db, clock, events, vault, providerKey } = deps
  const now = () => timestamp(clock.now())

  async function announce(tx: Tx, agents: readonly NamedAgent[]): Promise<void> {
    for (const { id, name } of agents) {
      const event = { type: 'agent.settings_changed', agent_names: [name], agent_ids: [id] }
      await events.append(tx, { ...event, fields: { setting: 'subscription' } }, clock.now())
    }
  }

  async function auth(agents: readonly { id: string; runtime: Runtime }[]) {
    const store = subscriptionStore(db)
    const [rows, assignments] = await Promise.all([store.all(), store.assignments()])
    const byId = new Map(rows.map((row) => [row.id, row]))
    const rowOf = new Map(assignments.map((each) => [each.agent_id, byId.get(each.subscription_id)]))
    return new Map(agents.map(({ id, runtime }) => [id, authIn(runtime, rowOf.get(id))]))
  }

  /** Ignores an assignment that the agent got while it had another runtime. */
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
      const byRow = Map.groupBy(assignments, (each) => each.subscription_id)
      return rows.map((row) =>
        view(
          row,
          (byRow.get(row.id) ?? []).map((each) => byId.get(each.agent_id)),
        ),
      )
    },

    put: (input) => db.atomically(async (tx) => (await addIn(tx, input)) ?? replaceIn(tx, input)),

    async remove(idOrName) {
      return db.atomically(async (tx) => {
        const store = subscriptionStore(tx)
        const { id, name } = await require(tx, idOrName)
        if (!(await store.lock(id))) throw missing()
        const agents = await namedAgents(tx, await store.agentsOf(id))
        await store.remove(id)
        await announce(tx, agents)
        return { name, agents: agents.map((agent) => agent.name) }
      })
    },

    async usage(idOrName) {
      const { id, limited_until } = await require(db, idOrName)
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
          throw invalidField(['subscription_name'], `is of ${row.provider}; ${runtime} uses ${provider}`)
        await store.assign(agent.id, row.id, now())
        await announce(tx, [agent])
      })
    },

    async copy(tx, from, to) {
      const store = subscriptionStore(tx)
      const id = await store.homeOf(from)
      // Its deletion waits until the fork has it.
      if (id !== null && (await store.lock(id))) await store.assign(to, id, now())
    },

    async clear(agent) {
      await db.atomically(async (tx) => {
        if (await subscriptionStore(tx).clear(agent.id)) await announce(tx, [agent])
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
        run: () => subscriptionStore(db).deleteUsage(timestamp(secondsLater(clock.now(), -8 * 86_400))),
      },
    ],
  }

  /** Returns null when the name exists. */
  async function addIn(tx: Tx, { token, ...input }: SubscriptionInput): Promise<Subscription | null> {
    const [id, at] = [newId(), now()]
    const made = { sealed_token: sealed(id, token), created_at: at, updated_at: at }
    const row = { id, ...input, ...unmarked, ...made }
    return (await subscriptionStore(tx).insert(row)) ? view(row, []) : null
  }

  /** Limits and refusals of the old token do not apply to the new one. */
  async function replaceIn(tx: Tx, { token, ...input }: SubscriptionInput): Promise<Subscription> {
    const store = subscriptionStore(tx)
    const named = await store.byName(input.name)
    const current = named && (await store.lock(named.id))
    if (!current) throw new Fault('conflict', `"${input.name}" was just deleted; add it again.`)
    const agents = await namedAgents(tx, await store.agentsOf(current.id))
    if (current.provider !== input.provider && agents.length > 0)
      throw new Fault('conflict', `Agents use "${input.name}", which is of ${current.provider}.`)
    const patch = { ...input, ...unmarked, sealed_token: sealed(current.id, token), updated_at: now() }
    await store.replace(current.id, patch)
    const names = agents.map(({ name }) => name)
    return view({ ...current, ...patch }, names)
  }

  function sealed(id: string, token: Secret): SealedText {
    return vault.seal(token.reveal(), tokenContext(id))
  }
}

async function require(executor: Executor, idOrName: string): Promise<SubscriptionRow> {
  const store = subscriptionStore(executor)
  const row = (await store.byId(idOrName)) ?? (await store.byName(idOrName))
  if (!row) throw missing()
  return row
}

function missing(): Fault {
  return new Fault('not_found', 'There is no such subscription.')
}

/** By name, without deleted agents. */
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
