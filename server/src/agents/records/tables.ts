import type { AgentStatus, Runtime } from '@roost/contracts/agents/agent'
import type { EgressMode } from '@roost/contracts/agents/egress'

/** One row for each agent. Booleans are 0 or 1, times ISO 8601 UTC. */
export type AgentsTable = {
  id: string
  name: string
  /** `creating`: holds the name while its container is made; nobody sees it. */
  state: 'creating' | 'ready'
  /** Name at creation plus 6 characters; the volumes keep it through renames. */
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
  /** As it was named at creation; `github:owner/repo[@branch]` also when only the repository was named. */
  template: string | null
  /** Of a template from git: what its content was taken from. */
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
  /** Its shared folder may be read by the consumers that may call it. */
  expose_folder: number
  /** It reads the folders of those that expose theirs and that it may call. */
  consume_folders: number
  /** JSON `{max_executions, ttl_seconds}`. */
  ephemeral: string | null
  desired: 'running' | 'stopped'
  /** Desired state × what the engine last said. */
  status: AgentStatus
  /** Time of what was last heard of the container; older news is ignored. */
  observed_at: string
  started_at: string | null
  exit_code: number | null
  oom_killed: number
  /** JSON array of times at which the container ended by itself, the newest last. */
  recent_exits: string
  /** It ended too often: stays down until somebody starts it. */
  held: number
  container_id: string | null
  /** JSON `Applied`: what the present container was made with. */
  applied: string | null
  agent_key_id: string | null
  agent_key_sealed: string | null
  egress_mode: EgressMode
}

export type SshPortsTable = { port: number; agent_id: string }
export type TagsTable = { agent_id: string; tag: string }
export type SharesTable = {
  agent_id: string
  /** Lower-cased. */
  email: string
  id: string
  shared_by_id: string
  shared_by_email: string | null
  created_at: string
}
/** Containers and volumes whose agent is gone; kept until the engine has removed them. */
export type LeftoversTable = {
  id: string
  agent_id: string
  /** Null when it was never learnt: then it is looked for by the agent's id. */
  container_id: string | null
  /** JSON array of names. */
  volumes: string
  created_at: string
}

export type DirectoryTables = {
  agents: AgentsTable
  agent_ssh_ports: SshPortsTable
  agent_tags: TagsTable
  agent_shares: SharesTable
  agent_leftovers: LeftoversTable
}
