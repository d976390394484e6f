import { isOwnersAlone, isPortable } from '@roost/contracts/link/credentials'
import { parentOf } from '@roost/contracts/link/history'
import type { RecordId, StoredEntry, Walked, WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { textOf } from './paths.ts'
import { storeName } from './rules.ts'
import type { RecordRow } from './tables.ts'

const maxRemembered = 50
/** Of the paths of one record. */
const maxRememberedCharacters = 100_000

/** What is not taken from a record. */
export type Omissions = {
  /** The topmost paths, as bytes, and those of copies: hard links are recorded as separate files. */
  paths: ReadonlySet<string>
  /** Entries of the record that are taken. */
  takenCount: number
}

/** Remembers what was found for the last records, which never change. */
export function createForkOmissions(
  history: Pick<WorkspaceHistory, 'walk' | 'sizes'>,
): (record: Pick<RecordRow, 'id' | 'agent_id'>, withCredentials: boolean) => Promise<Omissions> {
  const known = new Map<string, Promise<Omissions>>()
  return ({ id, agent_id }, withCredentials) => {
    const key = `${id} ${withCredentials}`
    const source = { agent: storeName(agent_id), record: id }
    const found = known.get(key) ?? omissionsOf(history, source, (path) => isPortable(path, withCredentials))
    known.delete(key)
    known.set(key, found)
    const forget = () => void (known.get(key) === found && known.delete(key))
    found.then(({ paths }) => [...paths].join('').length > maxRememberedCharacters && forget(), forget)
    for (const oldest of known.keys()) if (known.size > maxRemembered) known.delete(oldest)
    return found
  }
}

/**
 * What `isTaken` refuses, by the path in the workspace: a folder with its content, and a file with all copies of it.
 * Throws `UnknownRecord`.
 */
export async function omissionsOf(
  history: Pick<WorkspaceHistory, 'walk' | 'sizes'>,
  source: RecordId,
  isTaken: (path: string) => boolean,
): Promise<Omissions> {
  const { omitted, contents, restCount } = await refusedOf(history, source, isTaken)
  let takenCount = restCount
  if (contents.size > 0)
    for await (const { kind, path, content } of entriesOf(history, source)) {
      if (kind !== 'file' || !contents.has(content) || isBelow(omitted, path)) continue
      omitted.add(path)
      takenCount -= 1
    }
  return { paths: omitted, takenCount }
}

/** Returns a reader of the contents that only the owner may read in a record, by any name. Remembers the last ones. */
export function createOwnersContents(
  history: Pick<WorkspaceHistory, 'walk' | 'sizes'>,
): (record: RecordId) => Promise<ReadonlySet<string>> {
  const known = new Map<string, Promise<ReadonlySet<string>>>()
  return (record) => {
    const key = `${record.agent} ${record.record}`
    const found =
      known.get(key) ??
      refusedOf(history, record, (path) => !isOwnersAlone(path)).then(({ contents }) => contents)
    known.delete(key)
    known.set(key, found)
    found.catch(() => void (known.get(key) === found && known.delete(key)))
    for (const oldest of known.keys()) if (known.size > maxRemembered) known.delete(oldest)
    return found
  }
}

/** `omitted`: the topmost paths. `contents`: those of files that are not empty. `restCount`: entries that are taken. */
async function refusedOf(
  history: Pick<WorkspaceHistory, 'walk' | 'sizes'>,
  source: RecordId,
  isTaken: (path: string) => boolean,
): Promise<{ omitted: Set<string>; contents: Set<string>; restCount: number }> {
  let restCount = 0
  const omitted = new Set<string>()
  const withheld: StoredEntry[] = []
  const inside = new Set<string>()
  for await (const entry of entriesOf(history, source)) {
    const isInside = inside.has(parentOf(entry.path))
    if (!isInside && isTaken(textOf(entry.path))) {
      restCount += 1
      continue
    }
    if (!isInside) omitted.add(entry.path)
    if (entry.kind === 'folder') inside.add(entry.path)
    if (entry.kind === 'file') withheld.push(entry)
  }
  const sizes = await history.sizes(withheld)
  const contents = new Set(withheld.flatMap(({ content }, index) => (sizes[index] ? [content] : [])))
  return { omitted, contents, restCount }
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
  for (let each = path; each !== ''; each = parentOf(each)) if (folders.has(each)) return true
  return false
}
