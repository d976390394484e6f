import type { RuntimeName } from '@roost/contracts/link/messages'

/** Where an agent keeps its skills, in its home. */
export const playbooksFolder = '.claude/skills'

export function instructionsOf(name: string): string {
  return `${playbooksFolder}/${name}/SKILL.md`
}

/**
 * What an agent is told to run a playbook. Claude Code takes a skill by its name as a command of its own; the other
 * runtimes are sent to its file.
 */
export function messageOf(runtime: RuntimeName, name: string, input: string): string {
  if (runtime === 'claude-code') return input === '' ? `/${name}` : `/${name} ${input}`
  const words = `Run the playbook "${name}": follow the instructions in ${instructionsOf(name)}.`
  return input === '' ? words : `${words}\n\nInput:\n${input}`
}
