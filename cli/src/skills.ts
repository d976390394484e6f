import {
  assignAgentSkill,
  listAgentSkills,
  type SkillDelivery,
  unassignAgentSkill,
} from '@roost/contracts/skills/assignments'
import { getLibrarySkill, listSkillLibrary } from '@roost/contracts/skills/library'
import { type Asked, verbsCommand } from './client/client-command.ts'
import { plainText, table, time } from './client/output.ts'

export const skills = verbsCommand('skills', 'The library of skills, and which agents have them.', {
  list: {
    takes: '[AGENT]',
    summary: 'The skills of the library, or those of an agent.',
    run: (asked) => (asked.positionals.length === 0 ? listLibrary(asked) : listAssigned(asked)),
  },
  show: {
    takes: 'SKILL',
    summary: 'What a skill says.',
    async run({ api, positionals: [name = ''], print }) {
      const skill = await api.call(getLibrarySkill, { params: { name } })
      print(skill, () => plainText(skill.content))
    },
  },
  assign: {
    takes: 'AGENT SKILL',
    summary: 'Give a skill to an agent.',
    async run({ api, positionals: [name = '', skill = ''], print }) {
      const reply = await api.call(assignAgentSkill, { params: { name, skill } })
      print(reply, () => deliveryWords(reply.delivery))
    },
  },
  unassign: {
    takes: 'AGENT SKILL',
    summary: 'Take a skill from an agent.',
    async run({ api, positionals: [name = '', skill = ''], print }) {
      const reply = await api.call(unassignAgentSkill, { params: { name, skill } })
      print(reply, () => 'Taken.')
    },
  },
})

async function listLibrary({ api, print }: Asked): Promise<undefined> {
  const library = await api.call(listSkillLibrary, {})
  print(library, () =>
    table(
      ['name', 'source', 'description'],
      library.map((skill) => [skill.name, skill.source, skill.description ?? '']),
    ),
  )
}

async function listAssigned({ api, positionals: [name = ''], print }: Asked): Promise<undefined> {
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

function deliveryWords({ status, reason }: Pick<SkillDelivery, 'status' | 'reason'>): string {
  return reason ? `${status} (${reason})` : status
}
