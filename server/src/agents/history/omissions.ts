import type { RecordId, StoredEntry, Walked, WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { textOf } from './paths.ts'

/** The topmost paths that are not taken, as bytes, and those of copies: hard links are recorded as separate files. */
export async function omissionsOf(
  history: Pick<WorkspaceHistory, 'walk' | 'sizes'>,
  source: RecordId,
  isTaken: (path: string) => boolean,
): Promise<Set<string>> {
  const omitted = new Set<string>()
  const withheld: StoredEntry[] = []
  const inside = new Set<string>()
  for await (const entry of entriesOf(history, source)) {
    const isInside = inside.has(entry.path.slice(0, Math.max(0, entry.path.lastIndexOf('/'))))
    if (!isInside && isTaken(textOf(entry.path))) continue
    if (!isInside) omitted.add(entry.path)
    if (entry.kind === 'folder') inside.add(entry.path)
    if (entry.kind === 'file') withheld.push(entry)
  }
  const sizes = await history.sizes(withheld)
  const contents = new Set(withheld.flatMap(({ content }, index) => (sizes[index] ? [content] : [])))
  if (contents.size > 0)
    for await (const { kind, path, content } of entriesOf(history, source))
      if (kind === 'file' && contents.has(content) && !isBelow(omitted, path)) omitted.add(path)
  return omitted
}

/** Every entry of a record but its root, folders before their content. Throws `UnknownRecord`. */
export async function* entriesOf(
  history: Pick<WorkspaceHistory, 'walk'>,
  record: RecordId,
): AsyncGenerator<StoredEntry> {
  // Without contents it yields entries only.
  for await (const walked of history.walk(record, { withContents: false })) yield (walked as Walked).entry
}

/** True for one of these paths, and for everything in it. */
export function isBelow(folders: ReadonlySet<string>, path: string): boolean {
  for (let each = path; each !== ''; each = each.slice(0, Math.max(0, each.lastIndexOf('/'))))
    if (folders.has(each)) return true
  return false
}
