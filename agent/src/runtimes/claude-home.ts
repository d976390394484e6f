import { join } from 'node:path'
import { quote } from '../processes/tree.ts'
import type { Setup } from './port.ts'

/** Folders of the workspace's `.claude` that the CLI reads. */
const linkedFolders = ['skills', 'commands', 'agents']

/**
 * Creates the CLI's own folder with links to the workspace's `.claude`. A workspace that is the home folder
 * is not a project for the CLI. Its skills then count as personal skills, which the CLI reads from its own
 * folder.
 */
export function claudeHomeScript({ home, state }: Setup['places']): string {
  const links = linkedFolders.map((name) => linkScript(join(home, '.claude', name), join(state, name)))
  return [folderScript(state), ...links].join('\n')
}

/** Starts a process only for a missing folder: every turn waits for this code. */
export function folderScript(path: string): string {
  return `[ -d ${quote(path)} ] || mkdir -p ${quote(path)}`
}

/** An existing entry is this link or a folder that somebody created there; both stay. */
export function linkScript(target: string, path: string): string {
  const [from, to] = [quote(target), quote(path)]
  return `[ -e ${to} ] || [ -L ${to} ] || ln -s ${from} ${to}`
}
