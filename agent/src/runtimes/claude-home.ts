import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Setup } from './port.ts'

/** Folders of the workspace's `.claude` that the CLI reads. */
const linkedFolders = ['skills', 'commands', 'agents']

/**
 * Creates the CLI's own folder with links to the workspace's `.claude`. A workspace that is the home folder
 * is not a project for the CLI. Its skills then count as personal skills, which the CLI reads from its own
 * folder.
 */
export async function prepareClaudeHome({ home, state }: Setup['places']): Promise<void> {
  await mkdir(state, { recursive: true })
  await Promise.all(linkedFolders.map((name) => link(join(home, '.claude', name), join(state, name))))
}

/** An existing entry is this link or a folder that somebody created there; both stay. */
async function link(target: string, path: string): Promise<void> {
  await symlink(target, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
