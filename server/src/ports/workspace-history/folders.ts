import type { HistoryEntry } from '@roost/contracts/link/history'
import { createPause } from '../../kit/pause.ts'
import type { Objects } from './objects.ts'
import { type Child, encoding, parseAttributes, parseTree, segmentsOf } from './tree.ts'

/** A folder as it is stored. `attributes` is the content of its entry `%`. */
export type StoredFolder = {
  children: ReadonlyMap<string, Child>
  attributes: string | null
  own: Pick<HistoryEntry, 'mode' | 'owner' | 'sparse'>
}

const emptyFolder: StoredFolder = {
  children: new Map(),
  attributes: null,
  own: { mode: 0o755, owner: true, sparse: false },
}

/** Reads the folder of a tree object. Throws `FolderTooLarge`. */
export async function readFolder(objects: Objects, tree: string): Promise<StoredFolder> {
  const bytes = await objects.read(tree)
  if (!bytes) throw new Error(`The tree ${tree} is missing in the history.`)
  const parsed = await parseTree(bytes)
  const { children } = parsed
  const content = parsed.attributes === null ? null : await objects.read(parsed.attributes)
  const attributes = content?.toString(encoding) ?? null
  let { own } = emptyFolder
  const pause = createPause()
  for (const [name, known] of await parseAttributes(attributes ?? '')) {
    const child = children.get(name)
    if (child) Object.assign(child, known)
    else if (name === '') own = known
    await pause()
  }
  return { attributes, own, children }
}

/** Reads folders of one tree by path, each once. A null tree is empty. */
export function createFolders(objects: Objects, root: string | null) {
  const known = new Map<string, Promise<StoredFolder | null>>()

  function folder(path: string): Promise<StoredFolder | null> {
    let found = known.get(path)
    if (!found) {
      found = read(path)
      known.set(path, found)
    }
    return found
  }

  async function read(path: string): Promise<StoredFolder | null> {
    if (path === '') return root === null ? emptyFolder : readFolder(objects, root)
    const found = await entry(path)
    return found?.kind === 'folder' ? readFolder(objects, found.content) : null
  }

  async function entry(path: string): Promise<Child | null> {
    const segments = segmentsOf(path)
    const name = segments.pop()
    if (name === undefined) return null
    return (await folder(segments.join('/')))?.children.get(name) ?? null
  }

  return { folder, entry }
}
