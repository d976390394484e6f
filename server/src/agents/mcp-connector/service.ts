import type { Connector, ConnectorSnippet } from '@roost/contracts/agents/connector'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type AccessEnd, readPrincipal, type SignedIn } from '../../identity/access/index.ts'
import type { Keys } from '../../identity/keys/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Agent, type AgentRecords, agentStore } from '../records/index.ts'
import { snippetsOf } from './rules.ts'
import { type ConnectorsTable, connectorStore } from './store.ts'

export type McpConnectorDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  agentRecords: Pick<AgentRecords, 'changed'>
  events: Pick<Outbox, 'append'>
  keys: Pick<Keys, 'mintConnectorKey' | 'connectorKeys'>
  /** Ends what these principals have started on the agent. */
  accessEnded(tx: Tx, end: AccessEnd): Promise<void>
  /** The current address for MCP clients. */
  mcpUrl(): string
  /** Limits how many keys one person creates. */
  limitKeys(userId: string): Promise<void>
}

export type ConnectorPatch = Partial<
  Pick<Connector, 'enabled' | 'exposed_playbooks' | 'expose_all_playbooks'>
>
export type MintedConnectorKey = {
  key: string
  key_id: string
  key_prefix: string
  mcp_url: string
  snippets: ConnectorSnippet[]
}

export type McpConnectors = {
  of(agent: Agent): Promise<Connector>
  /** Switching it off ends what its keys have started. Throws `system_agent_protected`. */
  change(agent: Agent, patch: ConnectorPatch): Promise<Connector>
  /** Ends what the key has started, in the transaction that revokes or deletes it. */
  keyEnded(tx: Tx, key: { id: string; agentId: string }): Promise<void>
  /** Switches the connector on. The key has the role of the agent's owner, even if an admin creates it. */
  mint(agent: Agent, caller: SignedIn): Promise<MintedConnectorKey>
  /** Whether keys of scope `connector` find the agent. */
  isOn(agentId: string): Promise<boolean>
  /** Returns a predicate: whether a connector may run the playbook of a given name now. */
  offer(agentId: string): Promise<(playbook: string) => boolean>
}

export function createMcpConnectors(deps: McpConnectorDeps): McpConnectors {
  const { db, clock, agentRecords, events, keys } = deps

  async function put(tx: Tx, agent: Agent, patch: ConnectorPatch): Promise<void> {
    // Without the lock, concurrent changes would overwrite each other's fields.
    if (!(await agentStore(tx).lock(agent.id))) throw new Fault('agent_not_found')
    const before = await connectorStore(tx).of(agent.id)
    const now = { ...read(before), ...patch }
    await connectorStore(tx).put({
      agent_id: agent.id,
      enabled: now.enabled ? 1 : 0,
      expose_all_playbooks: now.expose_all_playbooks ? 1 : 0,
      exposed_playbooks: JSON.stringify([...new Set(now.exposed_playbooks)]),
      updated_at: timestamp(clock.now()),
    })
    if (read(before).enabled && !now.enabled) await endKeys(tx, agent, 'The connector was switched off.')
    const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { ...event, fields: { setting: 'connector' } }, clock.now())
    agentRecords.changed(tx, agent.id)
  }

  /** Ends what the connector's keys have started; only that of `keyId` if it is given. */
  async function endKeys(
    tx: Tx,
    agent: Pick<Agent, 'id' | 'name'>,
    reason: string,
    keyId?: string,
  ): Promise<void> {
    const isOf = (principal: string) => {
      const holder = readPrincipal(principal)
      return holder?.kind === 'key' && (keyId === undefined || holder.id === keyId)
    }
    await deps.accessEnded(tx, { agent, isOf, reason, now: clock.now() })
  }

  async function of(agent: Agent): Promise<Connector> {
    const [row, stored] = await Promise.all([connectorStore(db).of(agent.id), keys.connectorKeys(agent.id)])
    return {
      agent_name: agent.name,
      ...read(row),
      keys: stored.map(({ id, key_prefix, created_at, last_used_at }) => ({
        key_id: id,
        key_prefix,
        created_at,
        last_used_at,
      })),
    }
  }

  return {
    of,
    async change(agent, patch) {
      if (agent.is_system) throw new Fault('system_agent_protected')
      await db.atomically((tx) => put(tx, agent, patch))
      return of(agent)
    },
    async keyEnded(tx, { id, agentId }) {
      const agent = await agentStore(tx).byId(agentId)
      if (agent) await endKeys(tx, agent, 'The key of the connector was revoked.', id)
    },
    async mint(agent, caller) {
      if (agent.is_system) throw new Fault('system_agent_protected')
      await deps.limitKeys(caller.user.id)
      const minted = await db.atomically(async (tx) => {
        await put(tx, agent, { enabled: true })
        const request = { agentId: agent.id, ownerId: agent.owner_id, name: `Connector ${agent.name}` }
        return keys.mintConnectorKey(tx, request)
      })
      const mcp_url = deps.mcpUrl()
      const { id: key_id, key, key_prefix } = minted
      return { key, key_id, key_prefix, mcp_url, snippets: snippetsOf(agent.name, mcp_url, key) }
    },
    isOn: async (agentId) => read(await connectorStore(db).of(agentId)).enabled,
    async offer(agentId) {
      const { enabled, expose_all_playbooks, exposed_playbooks } = read(await connectorStore(db).of(agentId))
      return (playbook) => enabled && (expose_all_playbooks || exposed_playbooks.includes(playbook))
    },
  }
}

function read(row: ConnectorsTable | null): Required<ConnectorPatch> {
  if (!row) return { enabled: false, expose_all_playbooks: true, exposed_playbooks: [] }
  return {
    enabled: row.enabled === 1,
    expose_all_playbooks: row.expose_all_playbooks === 1,
    // Only this service writes the column.
    exposed_playbooks: JSON.parse(row.exposed_playbooks) as string[],
  }
}
