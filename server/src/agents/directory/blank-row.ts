import { randomBytes } from 'node:crypto'
import { defaultAgentType } from '@roost/contracts/agents/agent'
import { newId } from '../../kit/ids.ts'
import type { AgentsTable } from './tables.ts'

/** What a new agent has that nobody decided: autonomy on, three parallel slots, an hour for a run. */
export function blankRow(name: string, created: string): AgentsTable {
  return {
    id: newId(),
    name,
    state: 'creating',
    volume_base: `${name}-${randomBytes(3).toString('hex')}`,
    type: defaultAgentType,
    owner_id: '',
    owner: '',
    is_system: 0,
    created,
    port: 0,
    runtime: 'claude-code',
    runtime_model: null,
    cpu: '2',
    memory: '4g',
    template: null,
    template_commit: null,
    template_model: null,
    github_repo: null,
    source_branch: null,
    label: null,
    custom_instructions: null,
    autonomy_enabled: 1,
    read_only_enabled: 0,
    read_only_config: null,
    execution_timeout_seconds: 3600,
    max_parallel_tasks: 3,
    full_capabilities: 0,
    mcp_exposed: 0,
    operator_resume: 0,
    circuit_breaker_enabled: 0,
    ephemeral: null,
    desired: 'running',
    status: 'stopped',
    observed_at: created,
    started_at: null,
    exit_code: null,
    oom_killed: 0,
    recent_exits: '[]',
    held: 0,
    container_id: null,
    applied: null,
    agent_key_id: null,
    agent_key_sealed: null,
  }
}
