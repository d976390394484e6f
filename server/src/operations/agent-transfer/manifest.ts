import type { AgentEgress } from '@roost/contracts/agents/egress'
import { type ArchivedAgent, archiveVersion, type Manifest } from '@roost/contracts/operations/agent-transfer'
import type { AssignedSkill } from '@roost/contracts/skills/assignments'
import type { EventSubscription } from '@roost/contracts/triggers/events'
import type { Schedule } from '@roost/contracts/triggers/schedules'
import type { Agent } from '../../agents/records/index.ts'

export type Exported = {
  agent: Agent
  egress: Pick<AgentEgress, 'allowed' | 'credentials'>
  schedules: readonly Schedule[]
  subscriptions: readonly EventSubscription[]
  skills: readonly AssignedSkill[]
  withCredentials: boolean
  version: string
  now: Date
}

/** What an archive says about an agent. Leaves out what belongs to its owner or its installation. */
export function manifestOf(exported: Exported): Manifest {
  const { agent, egress, skills, withCredentials, version, now } = exported
  return {
    format: 'roost-agent',
    version: archiveVersion,
    roost_version: version,
    created_at: now.toISOString(),
    with_credentials: withCredentials,
    agent: {
      name: agent.name,
      type: agent.type,
      label: agent.label,
      tags: [...agent.tags],
      runtime: agent.runtime,
      // The template stays behind, so its model becomes the agent's own.
      model: agent.runtime_model ?? agent.template_model,
      // Validated when they were stored.
      cpu: agent.cpu as ArchivedAgent['cpu'],
      memory: agent.memory,
      disk_quota_bytes: agent.disk_quota_bytes,
      custom_instructions: agent.custom_instructions,
      autonomy_enabled: agent.autonomy_enabled,
      read_only: { enabled: agent.read_only_enabled, config: agent.read_only_config },
      execution_timeout_seconds: agent.execution_timeout_seconds,
      max_parallel_tasks: agent.max_parallel_tasks,
      full_capabilities: agent.full_capabilities,
      mcp_exposed: agent.mcp_exposed,
      operator_resume: agent.operator_resume,
      circuit_breaker_enabled: agent.circuit_breaker_enabled,
      expose_folder: agent.expose_folder,
      consume_folders: agent.consume_folders,
      strangers: agent.strangers,
      egress: {
        mode: agent.egress_mode,
        allowed: egress.allowed.map(({ host, port }) => ({ host, port })),
        credentials: egress.credentials.map(({ name }) => name),
      },
    },
    schedules: exported.schedules.map(scheduleOf),
    subscriptions: exported.subscriptions.map(({ event_type, target_message, source_agent }) => ({
      event_type,
      target_message,
      source:
        source_agent === null
          ? { kind: 'any' as const }
          : source_agent === agent.name
            ? { kind: 'self' as const }
            : { kind: 'agent' as const, name: source_agent },
    })),
    skills: skills.map(({ skill_name, source }) => ({ name: skill_name, source })),
  }
}

function scheduleOf(schedule: Schedule): Manifest['schedules'][number] {
  return {
    name: schedule.name,
    cron_expression: schedule.cron_expression,
    message: schedule.message,
    enabled: schedule.enabled,
    timezone: schedule.timezone,
    misfire_policy: schedule.misfire_policy,
    max_retries: schedule.max_retries,
    retry_delay_seconds: schedule.retry_delay_seconds,
    validation_enabled: schedule.validation_enabled,
    validation_timeout_seconds: schedule.validation_timeout_seconds,
    undo_failed: schedule.undo_failed,
    description: schedule.description,
    timeout_seconds: schedule.timeout_seconds,
    allowed_tools: schedule.allowed_tools,
    model: schedule.model,
    validation_prompt: schedule.validation_prompt,
    has_webhook: schedule.webhook_enabled,
  }
}
