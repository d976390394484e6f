import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { acquireLock } from './lock.ts'

export type Build = {
  /** The folder that will contain `dist`. */
  parent: string
  /** Digest of the sources; a build with the same stamp is reused. */
  stamp: string
  /** Builds into an existing, empty folder. */
  make(folder: string): Promise<void>
  /** Called once when another process is building. */
  onWait?: () => void
  signal?: AbortSignal
}

const stampFile = '.sources'
const pollMs = 250

/**
 * Builds `dist` unless the existing one has the same stamp. One process builds at a time. The new build replaces
 * the old one only when it is complete, so an interrupted build is never used.
 */
export async function buildOnce({ parent, stamp, make, onWait, signal }: Build): Promise<'built' | 'fresh'> {
  const built = join(parent, 'dist')
  const isFresh = async () => (await readFile(join(built, stampFile), 'utf8').catch(() => '')) === stamp
  if (await isFresh()) return 'fresh'
  const folder = await realpath(parent)
  let lock = await acquireLock('build', folder)
  if (!lock) onWait?.()
  while (!lock) {
    await pause(pollMs, undefined, { signal })
    lock = await acquireLock('build', folder)
  }
  try {
    if (await isFresh()) return 'fresh'
    await removePartialBuilds(parent)
    // The name is unique, because a builder whose `roost` was killed may still be writing to its folder.
    const partial = join(parent, `dist.half-${process.pid}-${Date.now()}`)
    await mkdir(partial)
    try {
      await make(partial)
      await writeFile(join(partial, stampFile), stamp)
      await rm(built, { recursive: true, force: true })
      await rename(partial, built)
    } catch (error) {
      await rm(partial, { recursive: true, force: true }).catch(() => {})
      throw error
    }
    return 'built'
  } finally {
    await lock.release()
  }
}

/** Removes interrupted builds. One that is still being written stays until the next build. */
async function removePartialBuilds(parent: string): Promise<void> {
  const partials = (await readdir(parent)).filter((name) => /^dist\.half(-|$)/.test(name))
  for (const name of partials) {
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {})
  }
}
