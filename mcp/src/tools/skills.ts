import { getVersion } from '@roost/contracts/operations/health'
import {
  assignAgentSkill,
  injectAgentSkills,
  listAgentSkills,
  maxAssigned,
  putAgentSkills,
} from '@roost/contracts/skills/assignments'
import {
  getLibrarySkill,
  getSkillLibraryStatus,
  listSkillLibrary,
  SkillDetail,
  SkillLibraryStatus,
} from '@roost/contracts/skills/library'
import { z } from 'zod'
import { type Call, type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

const skillName = z.string().min(1).describe('The name of a skill, as list_skills gives it.')

const feature = 'runnable_skills'

/** Running a skill by itself is for installations that are entitled to it; null: this one is. */
async function disabled({ api }: Pick<Call, 'api'>): Promise<object | null> {
  const { enterprise_features } = await api.call(getVersion, {})
  if (enterprise_features.includes(feature)) return null
  const message = 'This installation does not run skills by themselves; assign them to agents instead.'
  return { disabled: true, error: 'feature_disabled', feature, message }
}

async function runnable({ api }: Pick<Call, 'api'>) {
  return (await api.call(listSkillLibrary, {})).filter(
    ({ user_invocable, automation }) => user_invocable && automation !== 'manual',
  )
}

export const skillTools: Tool[] = [
  tool({
    name: 'list_skills',
    description: 'Every skill that agents can be given: name, what it does, where it comes from.',
    audience: 'everyone',
    effect: 'read',
    input: {},
    async run({ api }) {
      const skills = await api.call(listSkillLibrary, {})
      const told = skills.map(({ name, description, source, shadowed_by }) => ({
        name,
        description,
        source,
        shadowed_by,
      }))
      return { skills: told, count: told.length }
    },
  }),
  tool({
    name: 'get_skill',
    description: 'One skill in full, with its instructions in Markdown and what it needs.',
    audience: 'everyone',
    effect: 'read',
    input: { name: skillName },
    target: () => null,
    output: SkillDetail,
    run: ({ api }, { name }) => api.call(getLibrarySkill, { params: { name } }),
  }),
  tool({
    name: 'get_skills_library_status',
    description: 'How the library of skills stands: its sources, when each was read last, and how that went.',
    audience: 'everyone',
    effect: 'read',
    input: {},
    output: SkillLibraryStatus,
    run: ({ api }) => api.call(getSkillLibraryStatus, {}),
  }),
  tool({
    name: 'assign_skill_to_agent',
    description:
      'Give an agent a skill. Waits up to 20 seconds for it to arrive; a stopped agent gets it at its next start.',
    audience: 'person',
    effect: 'write',
    input: { skill_name: skillName, agent_name: agentName },
    run: ({ api }, { skill_name, agent_name }) =>
      api.call(assignAgentSkill, { params: { name: agent_name, skill: skill_name } }),
  }),
  tool({
    name: 'set_agent_skills',
    description: 'Replace all skills of an agent. What is left out is taken from it.',
    audience: 'person',
    effect: 'write',
    input: { agent_name: agentName, skill_names: z.array(skillName).max(maxAssigned) },
    run: ({ api }, { agent_name, skill_names }) =>
      api.call(putAgentSkills, { params: { name: agent_name }, body: { skills: skill_names } }),
  }),
  tool({
    name: 'sync_agent_skills',
    description: 'Bring the skills of a running agent up to date with the library now.',
    audience: 'person',
    effect: 'write',
    input: { agent_name: agentName },
    run: ({ api }, { agent_name }) =>
      api.call(injectAgentSkills, { params: { name: agent_name }, body: { force: false } }),
  }),
  tool({
    name: 'get_agent_skills',
    description: 'The skills of an agent: which version it has, and how the last delivery went.',
    audience: 'everyone',
    effect: 'read',
    input: { agent_name: agentName },
    async run({ api }, { agent_name }) {
      const skills = await api.call(listAgentSkills, { params: { name: agent_name } })
      return { agent_name, skills, count: skills.length }
    },
  }),
  tool({
    name: 'list_runnable_skills',
    description: 'Skills that can be run by themselves, where this installation is entitled to that.',
    audience: 'everyone',
    effect: 'read',
    input: {},
    async run(call) {
      const refusal = await disabled(call)
      if (refusal) return refusal
      const skills = (await runnable(call)).map(({ name, description, argument_hint }) => ({
        name,
        description,
        argument_hint,
      }))
      return { skills, count: skills.length }
    },
  }),
  tool({
    name: 'run_skill',
    description:
      'Run a skill by itself, where this installation is entitled to that: answers its instructions with the input, for you to follow.',
    audience: 'everyone',
    effect: 'read',
    input: { skill_name: skillName, input: z.string().max(20_000).optional() },
    async run(call, { skill_name, input }) {
      const refusal = await disabled(call)
      if (refusal) return refusal
      const { content } = await call.api.call(getLibrarySkill, { params: { name: skill_name } })
      return { skill_name, instructions: content, input: input ?? null }
    },
  }),
]
