import type { AgentDetails, AgentRow, RecreateReason, Resources } from '@roost/contracts/agents/agent'
import type { DiskUsage } from '@roost/contracts/agents/disk'
import type { Relation, SignedIn } from '../../identity/access/index.ts'
import { mayWrite } from '../access/index.ts'
import type { BeatState } from '../health/index.ts'
import type { Agent } from '../records/index.ts'
import { sharesOf } from '../sharing/index.ts'

/** An agent's row in lists for a viewer with this relation. */
export function rowOf(agent: Agent, relation: Relation): AgentRow {
  return {
    name: agent.name,
    type: agent.type,
    status: agent.status,
    port: agent.port,
    created: agent.created,
    runtime: agent.runtime,
    runtime_model: agent.runtime_model,
    // Only allowed values are ever stored.
    resources: { cpu: agent.cpu as Resources['cpu'], memory: agent.memory },
    template: agent.template,
    container_id: agent.container_id,
    tags: [...agent.tags],
    label: agent.label,
    // A stranger could read the name through a turn, and it may be an address.
    owner: relation === 'guest' ? '' : agent.owner,
    is_owner: relation === 'owner',
    is_shared: relation === 'shared',
    is_system: agent.is_system,
    ephemeral: agent.ephemeral !== null,
    autonomy_enabled: agent.autonomy_enabled,
    read_only_enabled: agent.read_only_enabled,
    github_repo: agent.github_repo,
    avatar_url: `/api/agents/${encodeURIComponent(agent.name)}/avatar`,
    max_parallel_tasks: agent.max_parallel_tasks,
    base_image_version: agent.applied?.image_version ?? null,
  }
}

export type DetailFacts = {
  caller: SignedIn
  relation: Relation
  reasons: RecreateReason[]
  heartbeat: BeatState
  disk: DiskUsage
  breakerOpen: boolean
  isolation: AgentDetails['isolation']
  /** The agent that it was forked from, if the caller has access to it. */
  origin: Pick<Agent, 'name'> | null
}

export function detailsOf(agent: Agent, facts: DetailFacts): AgentDetails {
  const { caller, relation, reasons, heartbeat } = facts
  const actsAsOwner = relation === 'owner' || relation === 'admin'
  const isPerson = caller.kind === 'session' || ['user', 'system'].includes(caller.key.scope)
  const mayEnd = actsAsOwner && isPerson && !agent.is_system
  return {
    ...rowOf(agent, relation),
    can_share: mayEnd,
    can_delete: mayEnd,
    workspace_access: mayWrite(caller, agent, relation) ? 'write' : 'read',
    ...(actsAsOwner
      ? {
          shares: sharesOf(agent),
        }
      : {}),
    ...(actsAsOwner || relation === 'self' ? { custom_instructions: agent.custom_instructions } : {}),
    execution_timeout_seconds: agent.execution_timeout_seconds,
    mcp_exposed: agent.mcp_exposed,
    operator_resume: agent.operator_resume,
    circuit_breaker: { enabled: agent.circuit_breaker_enabled, open: facts.breakerOpen },
    needs_recreate: reasons.length > 0,
    recreate_reasons: reasons,
    ...heartbeat,
    isolation: facts.isolation,
    disk: facts.disk,
    // The sentence names nodes and quotas of the cluster.
    waiting: actsAsOwner ? waitingOf(agent) : null,
    forked_from: actsAsOwner ? originOf(agent, facts.origin) : null,
  }
}

function originOf({ forked_from }: Agent, origin: DetailFacts['origin']): AgentDetails['forked_from'] {
  return (
    forked_from && {
      agent_name: origin?.name ?? forked_from.agent_name,
      can_open: origin !== null,
      record: forked_from.record_id,
      record_at: forked_from.record_at,
    }
  )
}

function waitingOf({ waiting }: Agent): AgentDetails['waiting'] {
  return waiting && { state: waiting.state, reason: waiting.reason, since: waiting.since }
}
