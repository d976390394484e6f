import { parentOf } from '@roost/contracts/link/history'
import { archiveEnd, paddingOf, writeWhiteout } from '../../kit/tar.ts'
import { archiveRoot } from '../../ports/containers/port.ts'
import type { RecordId, StoredEntry, WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { headerOf, requireExact } from './archive.ts'

/** What a record has at each path that differs from another record, and at the folders above; null hides a path. */
export type Difference = ReadonlyMap<string, { entry: StoredEntry; size: number } | null>

type Source = Pick<WorkspaceHistory, 'changes' | 'entry' | 'sizes' | 'readAll'>

/** A larger difference is not worth a layer of its own: each layer slows down reading. */
const maxPaths = 5000
const maxBytes = 64 * 1024 * 1024

/** Null if it is large. Throws `NotLayered`, and `UnknownRecord` if one of both was removed. */
export async function differenceOf(
  history: Source,
  from: RecordId,
  to: RecordId,
): Promise<Difference | null> {
  const changes = await history.changes(from, to)
  if (changes.length > maxPaths) return null
  const found = new Map<string, StoredEntry | null>()

  /** Also the folders above. Returns whether the path has an entry below which there can be others. */
  async function add(path: string): Promise<boolean> {
    if (path === '') return true
    const known = found.get(path)
    if (known !== undefined) return known?.kind === 'folder'
    // Nothing is left of what is below a path that is hidden or no folder.
    if (!(await add(parentOf(path)))) return false
    const entry = await history.entry(to, path)
    if (entry) requireExact(entry)
    found.set(path, entry)
    return entry?.kind === 'folder'
  }

  for (const { path, from: earlier } of changes) {
    await add(path)
    if (earlier !== undefined) await add(earlier)
  }
  const entries = [...found.values()].filter((entry) => entry !== null)
  const sizes = await history.sizes(entries)
  if (sizes.reduce((sum, size) => sum + size, 0) > maxBytes) return null
  const sizeOf = new Map(entries.map((entry, at) => [entry.path, sizes[at] ?? 0]))
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1))
  return new Map(
    sorted.map(([path, entry]) => [path, entry && { entry, size: sizeOf.get(path) ?? 0 }] as const),
  )
}

/** The content of a base that is layered on the base of the other record. */
export async function* archiveOfDifference(
  history: Source,
  to: RecordId,
  difference: Difference,
  modified: Date,
): AsyncGenerator<Buffer> {
  const seconds = Math.floor(modified.getTime() / 1000)
  const items = Array.from(difference, ([path, there]) => ({ path, there }))
  for await (const { item, pieces } of history.readAll(to, items)) {
    const { path, there } = item
    if (!there) {
      yield writeWhiteout(`${archiveRoot}/${path}`)
      continue
    }
    const { entry, size } = there
    if (entry.kind === 'folder') {
      yield headerOf(entry, seconds, {})
      continue
    }
    const content = pieces ?? []
    if (entry.kind === 'link') {
      const target = Buffer.concat(await Array.fromAsync(content))
      yield headerOf(entry, seconds, { link: target.toString('latin1') })
      continue
    }
    yield headerOf(entry, seconds, { size })
    yield* content
    yield Buffer.alloc(paddingOf(size))
  }
  yield archiveEnd
}
