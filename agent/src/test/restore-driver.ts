import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import type { HistoryRules } from '@roost/contracts/link/history'
import type { RestoreLookAnswer, RestoreTarget } from '@roost/contracts/link/history-restore'
import { readTree, type Tree } from '@roost/test-support/trees/random'
import { createRestores, type Restores, type RestoresDeps } from '../history/restore.ts'
import { createIdentities, readIdentityFacts } from '../processes/identity.ts'

export const everything: HistoryRules = { patterns: [], max_file_bytes: 1e12 }

export type RestorePlace = { home: string; journal: string; index: string }

/** The restores of a program that has just started. */
export function restoresAt(place: RestorePlace, deps: Partial<RestoresDeps> = {}): Restores {
  return createRestores({
    ...place,
    identities: createIdentities(readIdentityFacts(statSync(place.home))),
    clock: {
      elapsed: () => performance.now(),
      after(ms, act) {
        const timer = setTimeout(act, ms)
        timer.unref()
        return () => clearTimeout(timer)
      },
    },
    log: { info() {}, warn() {} },
    onRestore: async () => {},
    onChanged() {},
    ...deps,
  })
}

export type DriveOptions = {
  id?: string
  paths?: string[]
  rules?: HistoryRules
  leftOut?: string[]
  overwrite?: boolean
  /** Called after the comparison. */
  compared?(): void
  /** Changes what the record says about an entry. */
  change?(entry: RestoreTarget): RestoreTarget
}

/** Does what the platform does. */
export async function restoreTo(
  restores: Restores,
  tree: Tree,
  options: DriveOptions = {},
): Promise<RestoreLookAnswer> {
  const { id = 'one', paths = [''], rules = everything, leftOut = [], overwrite = false } = options
  const { change = (entry) => entry } = options
  await restores.open(id, paths, rules)
  await restores.target(id, targetOf(tree).map(change), leftOut)
  await restores.compare(id)
  const compared = await settled(restores, id)
  if (compared.state !== 'compared') return compared
  options.compared?.()
  for (const { content, path } of (await restores.needs(id, 0)).needs) {
    const bytes = Buffer.from(tree.get(path)?.content ?? '', 'latin1')
    for (let offset = 0; ; offset += 100_000) {
      const piece = bytes.subarray(offset, offset + 100_000)
      const last = offset + piece.length === bytes.length
      await restores.write(id, [{ content, offset, bytes: piece, last }])
      if (last) break
    }
  }
  await restores.apply(id, overwrite)
  return settled(restores, id)
}

/** Waits until the program no longer works on it. */
export async function settled(restores: Restores, id: string): Promise<RestoreLookAnswer> {
  for (;;) {
    const answer = await restores.look(id)
    if (answer.fault !== null || (answer.state !== 'comparing' && answer.state !== 'applying')) return answer
  }
}

export function targetOf(tree: Tree): RestoreTarget[] {
  return [...tree]
    .filter(([path]) => path !== '')
    .map(([path, { kind, mode, content }]) => ({
      ...{ path, kind, mode, owner: true, sparse: false, known: false },
      content:
        kind === 'folder'
          ? ''
          : createHash('sha256').update(`blob ${content.length}\0`).update(content, 'latin1').digest('hex'),
    }))
}

/** The workspace without the folder of restores, which must be empty. */
export function workspaceOf(home: string): Tree {
  const tree = readTree(home)
  for (const path of [...tree.keys()]) {
    if (path === '.roost') tree.delete(path)
    if (path.includes('restore-')) throw new Error(`A restore has left ${path}.`)
  }
  return tree
}
