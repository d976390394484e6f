import type { ReadOnlyConfig } from '@roost/contracts/agents/settings'
import type { AgentsTable, LeftoversTable, SharesTable } from './tables.ts'

/**
 * The settings an agent's current container was created with; any difference to the row requires a new
 * container.
 */
export type Applied = {
  cpu: string
  memory: string
  full_capabilities: boolean
  runtime: string
  agent_key_id: string | null
  image_version: string
  /** Folders of other agents, in the format of `folderMark`. */
  folders: string[]
  /** Missing means open. */
  network?: 'open' | 'closed'
  /** Missing means runc. */
  container_runtime?: string | null
}

/**
 * `pending`: the engine cannot run the container yet. `lost`: its node is unreachable. `reason` is the engine's
 * sentence. `canMove`: another node can mount the volumes.
 */
export type Waiting = { state: 'pending' | 'lost'; reason: string; since: string; canMove: boolean }

/** What an agent was forked from. Names and records may have changed or gone since. */
export type ForkedFrom = { agent_id: string; agent_name: string; record_id: string; record_at: string }

export type EphemeralBounds = { max_executions: number; ttl_seconds: number }

type Plain = Omit<
  AgentsTable,
  | 'is_system'
  | 'autonomy_enabled'
  | 'read_only_enabled'
  | 'read_only_config'
  | 'full_capabilities'
  | 'mcp_exposed'
  | 'operator_resume'
  | 'circuit_breaker_enabled'
  | 'expose_folder'
  | 'consume_folders'
  | 'ephemeral'
  | 'oom_killed'
  | 'recent_exits'
  | 'held'
  | 'applied'
  | 'waiting'
  | 'forked_from'
  | 'agent_key_sealed'
>

/** An agent as the rest of the platform reads it: the row with tags and shares, without its key. */
export type Agent = Readonly<
  Plain & {
    is_system: boolean
    autonomy_enabled: boolean
    read_only_enabled: boolean
    /** Null means the platform's patterns. */
    read_only_config: ReadOnlyConfig | null
    full_capabilities: boolean
    mcp_exposed: boolean
    operator_resume: boolean
    circuit_breaker_enabled: boolean
    expose_folder: boolean
    consume_folders: boolean
    ephemeral: EphemeralBounds | null
    oom_killed: boolean
    recent_exits: readonly string[]
    held: boolean
    applied: Applied | null
    waiting: Waiting | null
    forked_from: ForkedFrom | null
    tags: readonly string[]
    shares: readonly AgentShare[]
  }
>
export type AgentShare = Readonly<Omit<SharesTable, 'agent_id'>>

export type Leftover = Omit<LeftoversTable, 'created_at' | 'volumes'> & { volumes: string[] }

export function readAgent(row: AgentsTable, tags: string[], shares: AgentShare[]): Agent {
  const { agent_key_sealed: _, ...plain } = row
  return Object.freeze({
    ...plain,
    is_system: row.is_system === 1,
    autonomy_enabled: row.autonomy_enabled === 1,
    read_only_enabled: row.read_only_enabled === 1,
    read_only_config: fromJson<ReadOnlyConfig>(row.read_only_config),
    full_capabilities: row.full_capabilities === 1,
    mcp_exposed: row.mcp_exposed === 1,
    operator_resume: row.operator_resume === 1,
    circuit_breaker_enabled: row.circuit_breaker_enabled === 1,
    expose_folder: row.expose_folder === 1,
    consume_folders: row.consume_folders === 1,
    ephemeral: fromJson<EphemeralBounds>(row.ephemeral),
    oom_killed: row.oom_killed === 1,
    recent_exits: fromJson<string[]>(row.recent_exits) ?? [],
    held: row.held === 1,
    // PostgreSQL returns integers of this size as text.
    disk_quota_bytes: row.disk_quota_bytes === null ? null : Number(row.disk_quota_bytes),
    applied: fromJson<Applied>(row.applied),
    waiting: fromJson<Waiting>(row.waiting),
    forked_from: fromJson<ForkedFrom>(row.forked_from),
    tags,
    shares,
  })
}

export function readLeftover(row: LeftoversTable): Leftover {
  const { created_at: _, ...rest } = row
  return { ...rest, volumes: fromJson<string[]>(row.volumes) ?? [] }
}

/** The cast is safe because only the stores of this feature write these columns. */
function fromJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T)
}
