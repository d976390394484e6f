import type { Connector, ConnectorSnippet } from '@roost/contracts/agents/connector'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { SignedIn } from '../../identity/access/index.ts'
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
  /** Throws `system_agent_protected`. */
  change(agent: Agent, patch: ConnectorPatch): Promise<Connector>
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
    const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
    await events.append(tx, { ...event, fields: { setting: 'connector' } }, clock.now())
    agentRecords.changed(tx, agent.id)
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
