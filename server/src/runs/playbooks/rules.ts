import type { RuntimeName } from '@roost/contracts/link/messages'

/** Path of the skills in an agent's home. */
export const playbooksFolder = '.claude/skills'

export function instructionsOf(name: string): string {
  return `${playbooksFolder}/${name}/SKILL.md`
}

/**
 * The message that starts a playbook. Claude Code runs a skill by name as a command; the other runtimes get the
 * path of its file.
 */
export function messageOf(runtime: RuntimeName, name: string, input: string): string {
  if (runtime === 'claude-code') return input === '' ? `/${name}` : `/${name} ${input}`
  const instruction = `Run the playbook "${name}": follow the instructions in ${instructionsOf(name)}.`
  return input === '' ? instruction : `${instruction}\n\nInput:\n${input}`
}
