import { z } from 'zod'
import { endpoint } from '../kit/endpoint.ts'
import { eventType } from '../kit/event.ts'
import { AgentParams, Timestamp } from '../kit/primitives.ts'

const tag = 'Skills'

export const maxAssigned = 200
const text = z.string().nullable()
const names = z.array(z.string())

export const skillResultStatuses = ['injected', 'unchanged', 'failed', 'conflict'] as const
export const SkillResult = z.object({
  status: z.enum(skillResultStatuses).describe('`conflict`: the agent has a folder of its own there.'),
  version: text,
  warnings: names,
  error: text,
})
export type SkillResult = z.output<typeof SkillResult>

export const deliveryStatuses = ['injected', 'pending_start', 'in_progress', 'not_delivered'] as const
export const deliveryReasons = [
  'agent_stopped',
  'agent_starting',
  'injection_in_progress',
  'container_state_unreadable',
  'install_failed',
  'agent_unreachable',
] as const
export const SkillDelivery = z
  .object({
    status: z.enum(deliveryStatuses),
    reason: z.enum(deliveryReasons).nullable(),
    skills_injected: z.number().int(),
    skills_failed: z.number().int(),
    results: z.record(z.string(), SkillResult),
  })
  .meta({ id: 'SkillDelivery' })
export type SkillDelivery = z.output<typeof SkillDelivery>

export const removalStatuses = ['completed', 'partial', 'deferred'] as const
export const removalReasons = [
  'agent_stopped',
  'injection_in_progress',
  'agent_unreachable',
  'removal_error',
] as const
export const SkillRemoval = z
  .object({
    status: z.enum(removalStatuses),
    reason: z.enum(removalReasons).nullable(),
    skills: names.describe('Skills that are removed later.'),
    skills_removed: z.number().int(),
    skills_failed: z.number().int(),
    results: z.record(z.string(), z.object({ status: z.enum(['removed', 'absent', 'failed']), error: text })),
  })
  .meta({ id: 'SkillRemoval' })
export type SkillRemoval = z.output<typeof SkillRemoval>

export const AssignedSkill = z
  .object({
    skill_name: z.string(),
    assigned_by: z.string(),
    assigned_at: Timestamp,
    version: text.describe('Short SHA of the delivered version.'),
    source_id: text,
    source: text,
    delivery_status: z.enum([...skillResultStatuses, 'pending']).nullable(),
    last_delivery: z
      .object({
        status: z.enum(skillResultStatuses),
        at: Timestamp,
        version: text,
        warnings: names,
        error: text,
      })
      .nullable(),
    stale: z.boolean().describe('No enabled source has this skill any more.'),
  })
  .meta({ id: 'AssignedSkill' })
export type AssignedSkill = z.output<typeof AssignedSkill>

const fails = ['agent_not_found', 'invalid_skill_name'] as const
const SkillParams = AgentParams.extend({ skill: z.string() })
const owner = { who: 'owner', gate: 'person' } as const
const Holder = z.object({ name: z.string(), label: text })

export const listSkillAssignments = endpoint({
  id: 'listSkillAssignments',
  method: 'GET',
  path: '/api/skills/assignments',
  summary: 'List the agents of each skill',
  tag,
  access: { who: 'any', gate: 'human' },
  returns: z.object({
    assignments: z.record(z.string(), z.array(Holder)),
    scope: z.enum(['all', 'accessible']),
    assignable_agents: z.array(Holder),
  }),
})

export const listAgentSkills = endpoint({
  id: 'listAgentSkills',
  method: 'GET',
  path: '/api/agents/{name}/skills',
  summary: 'Skills of an agent with the state of their last delivery',
  tag,
  access: { who: 'access' },
  params: AgentParams,
  returns: z.array(AssignedSkill),
  fails: ['agent_not_found'],
})

export const putAgentSkills = endpoint({
  id: 'putAgentSkills',
  method: 'PUT',
  path: '/api/agents/{name}/skills',
  summary: 'Replace the skills of an agent and deliver them',
  description:
    'An unknown name changes nothing: 404 `skill_not_found` names it. An agent may keep a skill that no source has any more.',
  tag,
  access: owner,
  params: AgentParams,
  body: z.object({ skills: z.array(z.string()).max(maxAssigned) }),
  returns: z.object({
    success: z.literal(true),
    agent_name: z.string(),
    skills_assigned: z.number().int(),
    skills: names,
    delivery: SkillDelivery,
    removal: SkillRemoval.nullable(),
  }),
  fails: [...fails, 'skill_not_found', 'disk_quota_reached'],
  audit: { type: 'configuration', action: 'set_agent_skills' },
})

export const injectAgentSkills = endpoint({
  id: 'injectAgentSkills',
  method: 'POST',
  path: '/api/agents/{name}/skills/inject',
  summary: 'Deliver the assigned skills now; `force` delivers unchanged ones too',
  tag,
  access: owner,
  params: AgentParams,
  body: z.object({ force: z.boolean().default(false) }),
  bodyOptional: true,
  returns: z.object({
    success: z.boolean(),
    skills_injected: z.number().int(),
    skills_failed: z.number().int(),
    skills_skipped: z.number().int(),
    results: z.record(z.string(), SkillResult),
  }),
  fails: ['agent_not_found', 'agent_stopped', 'injection_in_progress', 'agent_unresponsive'],
  audit: { type: 'configuration', action: 'inject_agent_skills' },
})

export const assignAgentSkill = endpoint({
  id: 'assignAgentSkill',
  method: 'POST',
  path: '/api/agents/{name}/skills/{skill}',
  summary: 'Assign a skill to an agent; waits up to 20 seconds for the delivery',
  tag,
  access: owner,
  params: SkillParams,
  returns: z.object({
    success: z.literal(true),
    message: z.string(),
    skill: z.string(),
    skill_name: z.string(),
    delivery: SkillDelivery,
  }),
  fails: [...fails, 'skill_not_found', 'disk_quota_reached'],
  audit: { type: 'configuration', action: 'assign_agent_skill' },
})

export const unassignAgentSkill = endpoint({
  id: 'unassignAgentSkill',
  method: 'DELETE',
  path: '/api/agents/{name}/skills/{skill}',
  summary: 'Remove a skill from an agent; from an offline agent at its next start',
  tag,
  access: owner,
  params: SkillParams,
  returns: z.object({
    success: z.literal(true),
    removed: z.boolean(),
    skill_name: z.string(),
    removal: SkillRemoval.nullable(),
  }),
  fails,
  audit: { type: 'configuration', action: 'unassign_agent_skill' },
})

/** Has no values: recipients fetch them again. */
export const skillsChanged = eventType({ name: 'skills.changed', stored: true, fields: z.object({}) })
