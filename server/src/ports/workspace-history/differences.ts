import { createPause } from '../../kit/pause.ts'
import { readFolder } from './folders.ts'
import type { Objects } from './objects.ts'
import type { Change, StoredEntry } from './port.ts'
import { type Child, joined } from './tree.ts'

/** Compares two trees. Equal folders are not read. */
export async function differencesOf(objects: Objects, from: string, to: string): Promise<Change[]> {
  const changes: Change[] = []
  const pending: { path: string; before: string | null; after: string | null }[] = [
    { path: '', before: from, after: to },
  ]
  const pause = createPause()
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (next.before === next.after) continue
    const { path } = next
    const childrenOf = async (tree: string | null) =>
      tree === null ? new Map<string, Child>() : (await readFolder(objects, tree)).children
    const [before, after] = await Promise.all([childrenOf(next.before), childrenOf(next.after)])
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      await pause()
      const [old, now] = [entryOf(path, before.get(name)), entryOf(path, after.get(name))]
      const trees = { before: treeOf(old), after: treeOf(now) }
      if (trees.before !== trees.after) pending.push({ path: joined(path, name), ...trees })
      const change = changeOf(old, now)
      if (change) changes.push(...change)
    }
  }
  return (await withRenames(changes)).sort((a, b) => (a.path < b.path ? -1 : 1))
}

const treeOf = (entry: StoredEntry | null) => (entry?.kind === 'folder' ? entry.content : null)

function entryOf(folder: string, child: Child | undefined): StoredEntry | null {
  if (!child) return null
  const { name, ...entry } = child
  return { ...entry, path: joined(folder, name) }
}

function changeOf(before: StoredEntry | null, after: StoredEntry | null): Change[] | null {
  const path = after?.path ?? before?.path ?? ''
  if (!before || !after) return [{ path, change: after ? 'added' : 'deleted', before, after }]
  if (before.kind !== after.kind)
    return [
      { path, change: 'deleted', before, after: null },
      { path, change: 'added', before: null, after },
    ]
  if (before.kind !== 'folder' && before.content !== after.content)
    return [{ path, change: 'changed', before, after }]
  const isSame = before.mode === after.mode && before.owner === after.owner && before.sparse === after.sparse
  return isSame ? null : [{ path, change: 'attributes', before, after }]
}

/** Joins a deleted and an added file of the same content, each at most once. */
async function withRenames(changes: Change[]): Promise<Change[]> {
  const pause = createPause()
  const deleted = new Map<string, Change[]>()
  for (const each of changes) {
    await pause()
    if (each.change !== 'deleted' || each.before?.kind !== 'file') continue
    const same = deleted.get(each.before.content)
    if (same) same.push(each)
    else deleted.set(each.before.content, [each])
  }
  // Taken from the end: an agent may delete any number of equal files.
  for (const same of deleted.values()) same.reverse()
  const joinedWith = new Set<Change>()
  const result: Change[] = []
  for (const each of changes) {
    await pause()
    const { path, change, after } = each
    const from = change === 'added' && after?.kind === 'file' ? deleted.get(after.content)?.pop() : undefined
    if (from) joinedWith.add(from)
    result.push(from ? { path, change: 'renamed', from: from.path, before: from.before, after } : each)
  }
  return result.filter((each) => !joinedWith.has(each))
}
