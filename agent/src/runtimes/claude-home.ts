import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Setup } from './port.ts'

/** What a workspace brings along for the CLI besides its instructions. */
const shared = ['skills', 'commands', 'agents']

/**
 * The CLI's own folder, with links to the workspace's `.claude`. A workspace that is the home folder counts for the
 * CLI as no project, and its skills as those of the person: they are looked for in here.
 */
export async function prepareClaudeHome({ home, state }: Setup['places']): Promise<void> {
  await mkdir(state, { recursive: true })
  await Promise.all(shared.map((name) => link(join(home, '.claude', name), join(state, name))))
}

/** What is there already is this link, or a folder that somebody has made in its place. */
async function link(target: string, path: string): Promise<void> {
  await symlink(target, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}
