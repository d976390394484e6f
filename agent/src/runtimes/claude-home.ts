import { join } from 'node:path'
import { quote } from '../processes/tree.ts'
import type { Setup } from './port.ts'

/** Folders of the workspace's `.claude` that the CLI reads. */
const linkedFolders = ['skills', 'commands', 'agents']
/** Instructions, which the CLI reads in the workspace itself while it also reads settings there. */
const instructions = [
  { path: 'CLAUDE.md', name: 'CLAUDE.md' },
  { path: '.claude/rules', name: 'rules' },
]

/**
 * Creates the CLI's own folder with links to the workspace's `.claude`. A workspace that is the home folder
 * is not a project for the CLI. Its skills then count as personal skills, which the CLI reads from its own
 * folder.
 */
export function claudeHomeScript({
  places: { home, state },
  obeys,
}: Pick<Setup, 'places' | 'obeys'>): string {
  const folders = linkedFolders.map((name) =>
    onlyIf(obeys.hasFolder, join(home, '.claude', name), join(state, name)),
  )
  const others = instructions.map(({ path, name }) =>
    onlyIf(obeys.settings !== null, join(home, path), join(state, name)),
  )
  return [folderScript(state), ...folders, ...others].join('\n')
}

function onlyIf(isLinked: boolean, target: string, path: string): string {
  return isLinked ? linkScript(target, path) : `[ ! -L ${quote(path)} ] || rm -f ${quote(path)}`
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
