import { getVersion } from '@roost/contracts/operations/health'
import {
  assignAgentSkill,
  injectAgentSkills,
  listAgentSkills,
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
import { bodyOf, pathOf, request } from '../requests.ts'
import { type Call, type Tool, tool } from '../tool.ts'
import { agentName } from './parameters.ts'

const skillName = pathOf(getLibrarySkill).name.describe('The name of a skill, as list_skills returns it.')

const feature = 'runnable_skills'

/** The answer of an installation that is not entitled to run single skills; null for one that is. */
async function disabled({ api }: Pick<Call, 'api'>): Promise<object | null> {
  const { enterprise_features } = await api.call(getVersion, {})
  if (enterprise_features.includes(feature)) return null
  const message = 'This installation cannot run single skills; assign them to agents instead.'
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
    description: 'All skills that agents can be assigned: name, description, source.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(listSkillLibrary)],
    input: {},
    async run({ api }) {
      const skills = await api.call(listSkillLibrary, {})
      const brief = skills.map(({ name, description, source, shadowed_by }) => ({
        name,
        description,
        source,
        shadowed_by,
      }))
      return { skills: brief, count: brief.length }
    },
  }),
  tool({
    name: 'get_skill',
    description: 'One skill with its instructions in Markdown and its requirements.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getLibrarySkill)],
    input: { name: skillName },
    target: () => null,
    output: SkillDetail,
    run: ({ api }, { name }) => api.call(getLibrarySkill, { params: { name } }),
  }),
  tool({
    name: 'get_skills_library_status',
    description: 'The state of the skill library: its sources, and when and how each was last synced.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getSkillLibraryStatus)],
    input: {},
    output: SkillLibraryStatus,
    run: ({ api }) => api.call(getSkillLibraryStatus, {}),
  }),
  tool({
    name: 'assign_skill_to_agent',
    description:
      'Assign a skill to an agent. Waits up to 20 seconds for its delivery; a stopped agent gets it at its next start.',
    audience: 'person',
    effect: 'write',
    requests: [request(assignAgentSkill, { as: { '{skill}': 'skill_name' } })],
    input: { skill_name: skillName, agent_name: agentName },
    run: ({ api }, { skill_name, agent_name }) =>
      api.call(assignAgentSkill, { params: { name: agent_name, skill: skill_name } }),
  }),
  tool({
    name: 'set_agent_skills',
    description: 'Replace all skills of an agent. Skills that are not listed are removed.',
    audience: 'person',
    effect: 'write',
    requests: [request(putAgentSkills, { as: { skills: 'skill_names' } })],
    input: { agent_name: agentName, skill_names: bodyOf(putAgentSkills).skills },
    run: ({ api }, { agent_name, skill_names }) =>
      api.call(putAgentSkills, { params: { name: agent_name }, body: { skills: skill_names } }),
  }),
  tool({
    name: 'sync_agent_skills',
    description: 'Deliver the assigned skills of a running agent from the library now.',
    audience: 'person',
    effect: 'write',
    requests: [request(injectAgentSkills)],
    input: {
      agent_name: agentName,
      force: bodyOf(injectAgentSkills).force.describe('true: deliver again what the agent already has.'),
    },
    run: ({ api }, { agent_name, ...body }) =>
      api.call(injectAgentSkills, { params: { name: agent_name }, body }),
  }),
  tool({
    name: 'get_agent_skills',
    description: 'The skills of an agent with their versions and the result of the last delivery.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(listAgentSkills)],
    input: { agent_name: agentName },
    async run({ api }, { agent_name }) {
      const skills = await api.call(listAgentSkills, { params: { name: agent_name } })
      return { agent_name, skills, count: skills.length }
    },
  }),
  tool({
    name: 'list_runnable_skills',
    description: 'Skills that can be run alone, if this installation is entitled to that.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getVersion), request(listSkillLibrary)],
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
      'Run a single skill, if this installation is entitled to that: returns its instructions and the input, for you to follow.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getVersion), request(getLibrarySkill, { as: { '{name}': 'skill_name' } })],
    own: { input: 'Returned with the instructions.' },
    input: { skill_name: skillName, input: z.string().max(20_000).optional() },
    async run(call, { skill_name, input }) {
      const refusal = await disabled(call)
      if (refusal) return refusal
      const { content } = await call.api.call(getLibrarySkill, { params: { name: skill_name } })
      return { skill_name, instructions: content, input: input ?? null }
    },
  }),
]
