import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GitOutcome, Pruned } from './port.ts'

export type PruneDeps = {
  folder: string
  cacheOf(address: string): string
  git(cache: string, args: string[]): Promise<GitOutcome<Buffer>>
  /** Prevents fetches of this process into the cache meanwhile. */
  exclusive<T>(address: string, work: () => Promise<T>): Promise<T>
}

/** Its modification time is the time of the last fetch into the cache. */
const usedFile = 'roost-used'
const cacheForm = /^[0-9a-f]{40}\.git$/
/** Every fetch adds a pack; below this number tidying is not worthwhile. */
const manyPacks = 10

export async function markUsed(cache: string): Promise<void> {
  await writeFile(join(cache, usedFile), '')
}

export function createPrune({ folder, cacheOf, git, exclusive }: PruneDeps) {
  async function isUnused(cache: string, since: Date): Promise<boolean> {
    const used = await stat(join(cache, usedFile)).catch(() => stat(cache))
    return used.mtime < since
  }

  /** Objects of a running fetch are younger than a day and are kept. */
  async function tidy(address: string, commits: readonly string[]): Promise<boolean> {
    const cache = cacheOf(address)
    const packs = await readdir(join(cache, 'objects', 'pack')).catch(() => [])
    if (packs.filter((name) => name.endsWith('.pack')).length < manyPacks) return false
    return exclusive(address, async () => {
      const listed = await git(cache, ['for-each-ref', '--format=%(refname)', 'refs/roost/commits'])
      const old = listed.ok ? listed.value.toString('utf8').split('\n').filter(Boolean) : []
      for (const ref of old) await git(cache, ['update-ref', '-d', ref])
      // A missing commit is not needed by anybody who has it.
      for (const commit of commits) await git(cache, ['update-ref', `refs/roost/commits/${commit}`, commit])
      return (await git(cache, ['gc', '--quiet', '--prune=1.day.ago'])).ok
    })
  }

  return async (kept: ReadonlyMap<string, readonly string[]>, unusedSince: Date): Promise<Pruned> => {
    const keptCaches = new Set([...kept.keys()].map(cacheOf))
    let removed = 0
    for (const name of await readdir(folder).catch(() => [])) {
      const cache = join(folder, name)
      if (!cacheForm.test(name) || keptCaches.has(cache) || !(await isUnused(cache, unusedSince))) continue
      await rm(cache, { recursive: true, force: true })
      removed += 1
    }
    let tidied = 0
    for (const [address, commits] of kept) if (await tidy(address, commits)) tidied += 1
    return { removed, tidied }
  }
}
