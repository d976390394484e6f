import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** In the data folder until the next start: the database may name container engines of another machine. */
export const restoredFile = 'restored-engines'

/** `unfinished`: names of the volumes that a restore creates before its database; null once the database is in place. */
export async function markRestored(dataDir: string, unfinished: string[] | null = null): Promise<void> {
  const content = unfinished === null ? '' : JSON.stringify(unfinished)
  await writeFile(join(dataDir, restoredFile), content, { flush: true })
}

/** The volumes of a restore that did not end, and that no platform has used; null without one. */
export async function unfinishedVolumes(dataDir: string): Promise<string[] | null> {
  const content = await readFile(join(dataDir, restoredFile), 'utf8').catch(() => '')
  try {
    // Written by `markRestored`.
    return JSON.parse(content) as string[]
  } catch {
    // Empty, or written only in part, before any volume was created.
    return null
  }
}
