import {
  assignAgentSkill,
  listAgentSkills,
  type SkillDelivery,
  unassignAgentSkill,
} from '@roost/contracts/skills/assignments'
import { getLibrarySkill, listSkillLibrary } from '@roost/contracts/skills/library'
import { type CommandContext, commandGroup } from './client/client-command.ts'
import { plainText, table, time } from './client/output.ts'

export const skills = commandGroup('skills', 'Skills: list the library, assign to agents.', {
  list: {
    parameters: '[AGENT]',
    summary: 'List the skills of the library, or those of an agent.',
    run: (context) => (context.positionals.length === 0 ? listLibrary(context) : listAssigned(context)),
  },
  show: {
    parameters: 'SKILL',
    summary: 'Show the text of a skill.',
    async run({ api, positionals: [name = ''], print }) {
      const skill = await api.call(getLibrarySkill, { params: { name } })
      print(skill, () => plainText(skill.content))
    },
  },
  assign: {
    parameters: 'AGENT SKILL',
    summary: 'Assign a skill to an agent.',
    async run({ api, positionals: [name = '', skill = ''], print }) {
      const reply = await api.call(assignAgentSkill, { params: { name, skill } })
      print(reply, () => describeDelivery(reply.delivery))
    },
  },
  unassign: {
    parameters: 'AGENT SKILL',
    summary: 'Remove a skill from an agent.',
    async run({ api, positionals: [name = '', skill = ''], print }) {
      const reply = await api.call(unassignAgentSkill, { params: { name, skill } })
      print(reply, () => 'Unassigned.')
    },
  },
})

async function listLibrary({ api, print }: CommandContext): Promise<undefined> {
  const library = await api.call(listSkillLibrary, {})
  print(library, () =>
    table(
      ['name', 'source', 'description'],
      library.map((skill) => [skill.name, skill.source, skill.description ?? '']),
    ),
  )
}

async function listAssigned({ api, positionals: [name = ''], print }: CommandContext): Promise<undefined> {
  const assigned = await api.call(listAgentSkills, { params: { name } })
  print(assigned, () =>
    table(
      ['name', 'version', 'delivery', 'assigned'],
      assigned.map((skill) => [
        skill.skill_name,
        skill.version ?? '',
        skill.delivery_status ?? '',
        time(skill.assigned_at),
      ]),
    ),
  )
}

function describeDelivery({ status, reason }: Pick<SkillDelivery, 'status' | 'reason'>): string {
  return reason ? `${status} (${reason})` : status
}
