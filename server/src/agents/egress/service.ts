import type {
  AgentEgress,
  EgressCredential,
  EgressEntry,
  EgressRule,
  PutEgressCredential,
} from '@roost/contracts/agents/egress'
import { mostEgressRules } from '@roost/contracts/agents/egress'
import type { AgentWayOut } from '@roost/contracts/link/egress'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { Vault } from '../../foundation/vault/index.ts'
import type { Caller } from '../../identity/access/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import { isSameSecret } from '../../kit/same-secret.ts'
import { ContainerError, type Containers } from '../../ports/containers/port.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import type { Authority } from './authority.ts'
import type { BoundCredentials } from './bound-credentials.ts'
import type { Policies } from './policies.ts'
import { isListed, type Policy, parseTarget } from './rules.ts'
import { egressLogStore, egressStore } from './store.ts'
import type { CredentialsTable, RulesTable } from './tables.ts'

export type EgressService = {
  view(agent: Agent): Promise<AgentEgress>
  allow(agent: Agent, request: RuleRequest, by: Caller): Promise<EgressRule>
  /** Throws `not_found`. */
  disallow(agent: Agent, ruleId: string): Promise<void>
  /** Adds the rules of a new agent in the transaction that makes it visible. */
  restoreRules(tx: Tx, agentId: string, rules: readonly RuleRequest[], by: string, now: Date): Promise<void>
  /** Gives a new agent the rules of another one. */
  copyRules(tx: Tx, from: string, to: string, by: string): Promise<void>
  log(agent: Agent, page: LogPage): Promise<{ rows: EgressEntry[]; total: number }>
  bind(agent: Agent, name: string, request: PutEgressCredential): Promise<EgressCredential>
  unbind(agent: Agent, name: string): Promise<void>
  /** Proxy settings for the agent's program; null means direct access without this feature. */
  wayOut(agent: Agent): Promise<AgentWayOut | null>
  policyOf(agentId: string): Promise<Policy>
  /** Authenticates a client of the proxy. */
  admit(authorization: string | undefined): Promise<{ agentId: string; policy: Policy } | null>
  /** Values that must not appear in transcripts. */
  secrets(agentId: string): Promise<readonly string[]>
  /**
   * Called before an agent is set to `enforce`. Throws `option_not_offered` if enforcement is impossible
   * here.
   */
  refuseUnenforceable(): Promise<void>
  /** Whether any agent needs the closed network. */
  closesAny(): Promise<boolean>
}
type RuleRequest = { host: string; port?: number | null | undefined }
type LogPage = { limit: number; offset: number; decision?: EgressEntry['decision'] | undefined }

export type EgressServiceDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  vault: Pick<Vault, 'mac'>
  containers: Pick<Containers, 'closing'>
  agentRecords: Pick<AgentRecords, 'byId' | 'everyRow'>
  events: Pick<Outbox, 'append'>
  policies: Policies
  boundCredentials: BoundCredentials
  authority: Authority
  /** Whether the agent's container is in another network than its mode requires. */
  mustMove(agent: Agent): boolean
  /**
   * Creates the network without outbound access and listens on it. Called repeatedly while an agent needs it,
   * because the engine may restart or another process may have created the agent. Throws the engine's error.
   */
  openClosedNetwork(): Promise<unknown>
  /** Sends the proxy settings to the running program. */
  tell(agent: Agent): Promise<unknown>
  /**
   * Writes placeholders into a running agent's workspace; an unreachable agent gets them when it connects.
   */
  deliver(agent: Agent): Promise<void>
  /** Throws `rate_limited`. */
  limitCredentials(agentId: string): Promise<void>
}

const daySeconds = 24 * 3600

export function createEgressService(deps: EgressServiceDeps): EgressService {
  const { db, clock, vault, containers, agentRecords, events, policies, boundCredentials, authority } = deps

  const ticketOf = ({ id, agent_key_id }: Pick<Agent, 'id' | 'agent_key_id'>) =>
    vault.mac(`${id}\0${agent_key_id ?? ''}`, 'egress-ticket')

  async function policyOf(agentId: string): Promise<Policy> {
    const agent = await agentRecords.byId(agentId)
    // A deleted agent gets no access.
    if (!agent) return { mode: 'enforce', rules: [], bound: [] }
    return { mode: agent.egress_mode, ...(await policies.of(agentId)) }
  }

  /** Makes clients reload the agent's settings. */
  async function announce(tx: Tx, agent: Agent): Promise<void> {
    const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { ...event, fields: { setting: 'egress' } }, clock.now())
  }

  async function changed(agent: Agent): Promise<void> {
    await db.atomically((tx) => announce(tx, agent))
    await deps.deliver(agent)
    await deps.tell(agent)
  }

  const credentialView = (row: CredentialsTable): EgressCredential => ({
    name: row.name,
    // Only this feature writes these columns.
    hosts: JSON.parse(row.hosts) as string[],
    places: JSON.parse(row.places) as EgressCredential['places'],
    placeholder: policies.placeholder(row.agent_id, row.name),
    has_value: row.value_sealed !== null,
    source: row.source,
    updated_at: row.updated_at,
    last_used_at: row.last_used_at,
  })

  return {
    policyOf,

    async view(agent) {
      const store = egressStore(db)
      const since = timestamp(secondsLater(clock.now(), -daySeconds))
      const [rules, credentials, denied_last_day] = await Promise.all([
        store.rules(agent.id),
        store.credentials(agent.id),
        egressLogStore(db).deniedSince(agent.id, since),
      ])
      const { can, always, notes } = containers.closing
      const isClosed = agent.applied === null ? null : always || agent.applied.network === 'closed'
      return {
        agent_name: agent.name,
        mode: agent.egress_mode,
        restart_needed: deps.mustMove(agent),
        network: { can_close: can, is_closed: isClosed, notes: [...notes] },
        allowed: rules.map(ruleView),
        credentials: credentials.map(credentialView),
        denied_last_day,
      }
    },

    async restoreRules(tx, agentId, rules, by, now) {
      for (const rule of rules) await egressStore(tx).insertRule(rowOf(agentId, rule, by, now))
      tx.onCommitted(() => policies.changed(agentId))
    },

    async copyRules(tx, from, to, created_by) {
      const created_at = timestamp(clock.now())
      for (const rule of await egressStore(tx).rules(from))
        await egressStore(tx).insertRule({ ...rule, id: newId(), agent_id: to, created_at, created_by })
      tx.onCommitted(() => policies.changed(to))
    },

    async allow(agent, request, by) {
      const row = rowOf(agent.id, request, by.kind === 'anonymous' ? null : by.user.username, clock.now())
      return db.atomically(async (tx) => {
        const store = egressStore(tx)
        await agentStore(tx).lock(agent.id)
        const rules = await store.rules(agent.id)
        const existing = rules.find((rule) => rule.host === row.host && rule.port === row.port)
        if (existing) return ruleView(existing)
        if (rules.length >= mostEgressRules)
          throw new Fault('conflict', `An agent has at most ${mostEgressRules} rules.`)
        await store.insertRule(row)
        await announce(tx, agent)
        tx.onCommitted(() => policies.changed(agent.id))
        return ruleView(row)
      })
    },

    disallow: (agent, ruleId) =>
      db.atomically(async (tx) => {
        if (!(await egressStore(tx).removeRule(agent.id, ruleId)))
          throw new Fault('not_found', 'There is no such rule.')
        await announce(tx, agent)
        tx.onCommitted(() => policies.changed(agent.id))
      }),

    async log(agent, page) {
      const [{ rows, total }, policy] = await Promise.all([
        egressLogStore(db).list(agent.id, page),
        policies.of(agent.id),
      ])
      const isAllowed = (row: { host: string; port: number }) =>
        isListed(policy.rules, row) ||
        policy.bound.some(({ hosts }) =>
          hosts.some(({ host, port }) => host === row.host && port === row.port),
        )
      return { rows: rows.map(({ agent_id: _, ...row }) => ({ ...row, is_listed: isAllowed(row) })), total }
    },

    async bind(agent, name, request) {
      await deps.limitCredentials(agent.id)
      const row = await boundCredentials.put(agent.id, name, request)
      await changed(agent)
      return credentialView(row)
    },

    async unbind(agent, name) {
      await boundCredentials.remove(agent.id, name)
      await changed(agent)
    },

    async wayOut(agent) {
      const { bound } = await policies.of(agent.id)
      if (agent.egress_mode === 'off' && bound.length === 0) return null
      return {
        user: agent.id,
        ticket: ticketOf(agent),
        authority: bound.length > 0 ? await authority.certificate() : null,
      }
    },

    async admit(authorization) {
      const encoded = /^Basic +([A-Za-z0-9+/=]{1,500}) *$/i.exec(authorization ?? '')?.[1]
      if (encoded === undefined) return null
      const [, id = '', ticket = ''] =
        /^([^:]{1,100}):(.*)$/.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
      const agent = id === '' ? null : await agentRecords.byId(id)
      if (!agent || !isSameSecret(ticket, ticketOf(agent))) return null
      return { agentId: agent.id, policy: await policyOf(agent.id) }
    },

    secrets: async (agentId) => (await policies.of(agentId)).bound.map(({ value }) => value.reveal()),

    async refuseUnenforceable() {
      const refuse = (reason: string, cause?: unknown) => {
        throw new Fault('option_not_offered', `Egress cannot be enforced here: ${reason}`, {}, { cause })
      }
      if (!containers.closing.can) refuse(containers.closing.notes.join(' '))
      // Engines in a virtual machine report this only when the network is created.
      await deps.openClosedNetwork().catch((cause: unknown) => {
        if (!(cause instanceof ContainerError)) throw cause
        refuse(
          cause.fault === 'engine_down'
            ? 'the container engine does not answer.'
            : 'the container engine has no network from which the platform alone is reached.',
          cause,
        )
      })
    },

    closesAny: async () =>
      (await agentRecords.everyRow()).some(
        ({ egress_mode, applied }) => egress_mode === 'enforce' || applied?.network === 'closed',
      ),
  }
}

function rowOf(
  agent_id: string,
  { host, port }: RuleRequest,
  created_by: string | null,
  now: Date,
): RulesTable {
  // Normalized: IP addresses in canonical form, names as they are resolved.
  const normalizedHost = host.startsWith('*.') ? host : (parseTarget(`${host}:443`)?.host ?? host)
  return {
    id: newId(),
    agent_id,
    host: normalizedHost,
    port: port ?? 0,
    created_at: timestamp(now),
    created_by,
  }
}

function ruleView({ agent_id: _, port, ...rule }: RulesTable): EgressRule {
  return { ...rule, port: port === 0 ? null : port }
}
