import type { AgentStatus, Runtime, ShareAccess, StrangersAccess } from '@roost/contracts/agents/agent'
import type { DiskState } from '@roost/contracts/agents/disk'
import type { EgressMode } from '@roost/contracts/agents/egress'
import type { SealedText } from '../../foundation/vault/index.ts'

/** One row for each agent. Booleans are 0 or 1, times ISO 8601 UTC. */
export type AgentsTable = {
  id: string
  name: string
  /** `creating` reserves the name while the container is created; no caller sees the agent yet. */
  state: 'creating' | 'ready'
  /** Name at creation plus 6 characters; renames do not change it, so volumes keep their names. */
  volume_base: string
  type: string
  owner_id: string
  /** User name of the owner. */
  owner: string
  is_system: number
  created: string
  /** 0 without SSH. */
  port: number
  runtime: Runtime
  runtime_model: string | null
  cpu: string
  memory: string
  /** As requested at creation; also `github:owner/repo[@branch]` if only the repository was given. */
  template: string | null
  /** For git templates: the commit its content came from. */
  template_commit: string | null
  template_model: string | null
  github_repo: string | null
  source_branch: string | null
  label: string | null
  custom_instructions: string | null
  autonomy_enabled: number
  read_only_enabled: number
  /** JSON; null means the platform's patterns. */
  read_only_config: string | null
  execution_timeout_seconds: number
  max_parallel_tasks: number
  full_capabilities: number
  mcp_exposed: number
  operator_resume: number
  circuit_breaker_enabled: number
  /** Agents that may call this one can read its shared folder. */
  expose_folder: number
  /** Mounts the folders exposed by agents that this one may call. */
  consume_folders: number
  /** JSON `{max_executions, ttl_seconds}`. */
  ephemeral: string | null
  desired: 'running' | 'stopped'
  /** Derived from the desired state and the engine's last report. */
  status: AgentStatus
  /** Time of the last report about the container; older reports are ignored. */
  observed_at: string
  started_at: string | null
  exit_code: number | null
  oom_killed: number
  /** JSON array of the times at which the container exited by itself, newest last. */
  recent_exits: string
  /** It exited too often and stays stopped until someone starts it. */
  held: number
  container_id: string | null
  /** JSON `Waiting`: why the container does not run although it should. */
  waiting: string | null
  /** Engine with its container and volumes; null: not recorded yet. */
  engine_id: string | null
  /** JSON `Applied`: the settings the current container was created with. */
  applied: string | null
  agent_key_id: string | null
  agent_key_sealed: SealedText | null
  egress_mode: EgressMode
  /** OCI runtime; null: that of the installation. */
  container_runtime: string | null
  /** The agent's own disk quota; 0 means unlimited, null the installation's default. */
  disk_quota_bytes: number | null
  /** `full`: its runs wait, and the platform refuses to write into its workspace. */
  disk_state: DiskState
  /** What turns of strangers may do with the workspace. */
  strangers: StrangersAccess
  /** JSON `ForkedFrom`; null: it is no fork. */
  forked_from: string | null
  /** The set of attempts that this fork belongs to. */
  attempt_set_id: string | null
}

export type SshPortsTable = { port: number; agent_id: string }
export type TagsTable = { agent_id: string; tag: string }
export type SharesTable = {
  agent_id: string
  /** Lower case. */
  email: string
  /** What the person's turns, and the person through the API, may do with the workspace. */
  access: ShareAccess
  id: string
  shared_by_id: string
  shared_by_email: string | null
  created_at: string
}
/** Containers and volumes of deleted agents, stored until the engine has removed them. */
export type LeftoversTable = {
  id: string
  agent_id: string
  /** Null if the id is unknown: the container is then found by the agent's id. */
  container_id: string | null
  /** Null: recorded before engines had an identity, or restored. */
  engine_id: string | null
  /** JSON array of names. */
  volumes: string
  created_at: string
}

export type AgentTables = {
  agents: AgentsTable
  agent_ssh_ports: SshPortsTable
  agent_tags: TagsTable
  agent_shares: SharesTable
  agent_leftovers: LeftoversTable
}
