import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ownLines, withPlatformLines } from '../workspace/gitignore.ts'
import { editPlainFile, readPlainFile } from '../workspace/plain-file.ts'
import type { RunGit } from './run.ts'

export const ignoreFile = '.gitignore'

/** True if the file differs from the last commit by nothing but the platform's lines. */
export async function isOnlyPlatformChange(git: RunGit, home: string): Promise<boolean> {
  const present = await readPlainFile(home, ignoreFile)
  if (present === null) return false
  const committed = await git(['show', `HEAD:${ignoreFile}`])
  return ownLines(present) === ownLines(committed.ok ? committed.output : '')
}

/**
 * Runs `work` on the committed `.gitignore` and then adds the platform's lines again, so that they neither stop a pull
 * nor become part of a commit. A file with other changes stays as it is.
 */
export async function withCommittedIgnore<T>(git: RunGit, home: string, work: () => Promise<T>): Promise<T> {
  const before = await readPlainFile(home, ignoreFile)
  if (before === null || !(await isOnlyPlatformChange(git, home))) return work()
  const restored = await git(['checkout', '--quiet', 'HEAD', '--', `:(top)${ignoreFile}`])
  if (!restored.ok) await rm(join(home, ignoreFile))
  try {
    return await work()
  } finally {
    await editPlainFile(home, ignoreFile, (text) => withPlatformLines(text, before))
  }
}
