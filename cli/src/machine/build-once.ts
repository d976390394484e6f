import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { hold } from './lock.ts'

export type Build = {
  /** Where the folder `dist` comes to stand. */
  parent: string
  /** Of what it is made from: a build with the same one is not made again. */
  stamp: string
  /** Makes it in a folder that is there and empty. */
  make(folder: string): Promise<void>
  /** Somebody else builds here: called once. */
  onWait?: () => void
  signal?: AbortSignal
}

const stampFile = '.sources'
const pauseMs = 250

/**
 * Has `dist` made, unless the one that is there was made of the same. One process builds at a time; the new build
 * takes the old one's place when it is complete, so that none that was cut off is ever used.
 */
export async function buildOnce({ parent, stamp, make, onWait, signal }: Build): Promise<'built' | 'fresh'> {
  const built = join(parent, 'dist')
  const isFresh = async () => (await readFile(join(built, stampFile), 'utf8').catch(() => '')) === stamp
  if (await isFresh()) return 'fresh'
  const folder = await realpath(parent)
  let held = await hold('build', folder)
  if (!held) onWait?.()
  while (!held) {
    await pause(pauseMs, undefined, { signal })
    held = await hold('build', folder)
  }
  try {
    if (await isFresh()) return 'fresh'
    await removeHalves(parent)
    // Of a name of its own: a builder whose `roost` was killed may still be writing to its folder.
    const half = join(parent, `dist.half-${process.pid}-${Date.now()}`)
    await mkdir(half)
    try {
      await make(half)
      await writeFile(join(half, stampFile), stamp)
      await rm(built, { recursive: true, force: true })
      await rename(half, built)
    } catch (error) {
      await rm(half, { recursive: true, force: true }).catch(() => {})
      throw error
    }
    return 'built'
  } finally {
    await held.release()
  }
}

/** What was cut off. One that is still written to is left, and found by the next build. */
async function removeHalves(parent: string): Promise<void> {
  const halves = (await readdir(parent)).filter((name) => /^dist\.half(-|$)/.test(name))
  for (const name of halves) {
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {})
  }
}
