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
  for (const [path, { after }] of our)
    for (const each of upwards(path)) {
      touched.add(each)
      if (after) occupied.add(each)
    }

  const conflicts = new Set<string>()
  for (const [path, { after }] of their) {
    const own = our.get(path)
    if (own) {
      if (!isSame(after, own.after)) conflicts.add(path)
    } else if (after && above(path, our).some((each) => each.after?.kind !== 'folder')) conflicts.add(path)
  }
  for (const [path, { after }] of our)
    if (after && above(path, their).some((each) => each.after?.kind !== 'folder')) conflicts.add(path)

  function isSelected(path: string, { before, after }: Sides): boolean {
    const own = our.get(path)
    if (own && isSame(after, own.after)) return false
    if (before?.kind !== 'folder' && after?.kind !== 'folder') return true
    // A folder is restored with everything in it.
    return after?.kind === 'folder' ? !touched.has(path) : overwrite || !occupied.has(path)
  }

  const selected = new Set(
    [...their].filter(([path, sides]) => isSelected(path, sides)).map(([path]) => path),
  )
  const paths = [...selected].filter(
    (path) => !upwards(path).some((each) => each !== path && selected.has(each)),
  )
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

function upwards(path: string): string[] {
  const all: string[] = []
  for (let each = path; each !== ''; each = each.slice(0, Math.max(0, each.lastIndexOf('/')))) all.push(each)
  return all
}

function above(path: string, sides: ReadonlyMap<string, Sides>): Sides[] {
  return upwards(path)
    .slice(1)
    .flatMap((each) => sides.get(each) ?? [])
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
