import { parentOf } from '@roost/contracts/link/history'
import type { Change, StoredEntry } from '../../ports/workspace-history/port.ts'

/** `paths` to bring to their content; the empty path means everything. `conflicts`: paths that both sides changed. */
export type Merge = { paths: string[]; conflicts: string[] }

type Sides = { before: StoredEntry | null; after: StoredEntry | null }

/**
 * Which paths to restore to bring `theirs` into a workspace that changed by `ours` since the same base. What only `ours`
 * changed is not named. With `overwrite`, theirs wins a conflict.
 */
export function mergeOf(theirs: readonly Change[], ours: readonly Change[], overwrite: boolean): Merge {
  if (ours.length === 0) return { paths: theirs.length === 0 ? [] : [''], conflicts: [] }
  const their = sidesOf(theirs)
  const our = sidesOf(ours)
  /** Our changes and the folders above them. */
  const touched = new Set<string>()
  /** What exists on our side, and the folders above it. */
  const occupied = new Set<string>()
  for (const [path, { after }] of our) {
    addUpwards(touched, path)
    if (after) addUpwards(occupied, path)
  }

  const isNoFolder = (sides: ReadonlyMap<string, Sides>) =>
    anyAbove((path) => {
      const found = sides.get(path)
      return found !== undefined && found.after?.kind !== 'folder'
    })
  const isWithoutFolder = { ours: isNoFolder(our), theirs: isNoFolder(their) }
  const conflicts = new Set<string>()
  for (const [path, { after }] of their) {
    const own = our.get(path)
    if (own) {
      if (!isSame(after, own.after)) conflicts.add(path)
    } else if (after && isWithoutFolder.ours(path)) conflicts.add(path)
  }
  for (const [path, { after }] of our) if (after && isWithoutFolder.theirs(path)) conflicts.add(path)

  function isSelected(path: string, { before, after }: Sides): boolean {
    const own = our.get(path)
    if (own && isSame(after, own.after)) return false
    if (before?.kind !== 'folder' && after?.kind !== 'folder') return true
    // A folder is restored with everything in it.
    if (after?.kind !== 'folder') return overwrite || !occupied.has(path)
    const isReplaced = own?.after !== undefined && own.after !== null && own.after.kind !== 'folder'
    return isReplaced || !touched.has(path)
  }

  const selected = new Set(
    [...their].filter(([path, sides]) => isSelected(path, sides)).map(([path]) => path),
  )
  const isCovered = anyAbove((path) => selected.has(path))
  const paths = [...selected].filter((path) => !isCovered(path))
  return { paths, conflicts: [...conflicts].sort() }
}

function sidesOf(changes: readonly Change[]): Map<string, Sides> {
  const sides = new Map<string, Sides>()
  const add = (path: string, { before, after }: Sides) => {
    const known = sides.get(path)
    // An entry that becomes another kind is deleted and added.
    sides.set(path, { before: known?.before ?? before, after: known?.after ?? after })
  }
  for (const { path, from, before, after } of changes) {
    if (from === undefined) add(path, { before, after })
    else {
      add(from, { before, after: null })
      add(path, { before: null, after })
    }
  }
  return sides
}

/** Adds a path and the folders above it. A hostile tree may be deep, so it stops at the first known one. */
function addUpwards(paths: Set<string>, path: string): void {
  for (let each = path; each !== '' && !paths.has(each); each = parentOf(each)) paths.add(each)
}

/** Returns a test whether any folder above a path matches. Looks at each folder once. */
function anyAbove(is: (path: string) => boolean): (path: string) => boolean {
  const known = new Map<string, boolean>([['', false]])
  return (path) => {
    const passed: string[] = []
    let folder = parentOf(path)
    for (; !known.has(folder) && !is(folder); folder = parentOf(folder)) passed.push(folder)
    const answer = known.get(folder) ?? true
    known.set(folder, answer)
    for (const each of passed) known.set(each, answer)
    return answer
  }
}

function isSame(one: StoredEntry | null, other: StoredEntry | null): boolean {
  if (!one || !other) return one === other
  if (one.kind !== other.kind) return false
  if (one.kind === 'folder') return true
  return (
    one.content === other.content &&
    one.mode === other.mode &&
    one.owner === other.owner &&
    one.sparse === other.sparse
  )
}
