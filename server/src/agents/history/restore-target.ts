import { type HistoryRules, parentOf } from '@roost/contracts/link/history'
import {
  type RestoreTarget,
  restorePageCharacters,
  restorePageEntries,
} from '@roost/contracts/link/history-restore'
import {
  type RecordId,
  type StoredEntry,
  UnknownRecord,
  type WorkspaceHistory,
} from '../../ports/workspace-history/port.ts'

/** What either of two records leaves out is not touched by a restore. */
export function joinedRules(one: HistoryRules, other: HistoryRules): HistoryRules {
  return {
    patterns: [...new Set([...one.patterns, ...other.patterns])],
    max_file_bytes: Math.min(one.max_file_bytes, other.max_file_bytes),
  }
}

/**
 * The entries of a record at the selected paths and above them, folders before their content. `base`: the record that
 * the agent compares with.
 */
export async function* targetOf(
  history: Pick<WorkspaceHistory, 'list'>,
  source: RecordId,
  base: RecordId | null,
  paths: readonly string[],
): AsyncGenerator<RestoreTarget> {
  const { selected, above } = selectionOf(paths)
  /** Folders to read: all of their content, or only what leads to the selected paths. */
  const pending: { folder: string; base: string | null; isWhole: boolean; isKnown: boolean }[] = [
    { folder: '', base: base ? '' : null, isWhole: selected.has(''), isKnown: false },
  ]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { folder, isWhole, isKnown } = next
    const entries = await history.list(source, folder)
    // Without it, everything would be deleted.
    if (!entries) throw new UnknownRecord(source.record)
    const before = new Map<string, StoredEntry>()
    if (base && next.base !== null && !isKnown)
      for (const entry of (await history.list(base, next.base)) ?? []) before.set(entry.path, entry)
    for (const entry of entries) {
      const { path, kind, mode, owner, sparse, content } = entry
      const isSelected = isWhole || selected.has(path)
      if (!isSelected && !above.has(path)) continue
      const other = before.get(path)
      const isSame = isKnown || (other?.kind === kind && other.content === content)
      const isFolder = kind === 'folder'
      yield { path, kind, mode, owner, sparse, content: isFolder ? '' : content, known: isSame && !isFolder }
      if (!isFolder) continue
      const inside = other?.kind === 'folder' ? path : null
      pending.push({ folder: path, base: inside, isWhole: isSelected, isKnown: isSame })
    }
  }
}

/** Paths that are sent to the agent: the selected ones, what is in them, and the folders above them. */
export function selectionOf(paths: readonly string[]) {
  const selected = new Set(paths)
  const above = new Set<string>()
  for (const path of paths)
    for (let each = parentOf(path); each !== ''; each = parentOf(each)) above.add(each)
  return {
    selected: selected as ReadonlySet<string>,
    above: above as ReadonlySet<string>,
    has(path: string): boolean {
      for (let each = path; each !== ''; each = parentOf(each)) if (selected.has(each)) return true
      return selected.has('') || above.has(path)
    },
  }
}

/** Splits what goes to the agent, so that each message stays small. */
export async function* pagesOf<T>(
  all: AsyncIterable<T> | Iterable<T>,
  charactersOf: (each: T) => number,
): AsyncGenerator<T[]> {
  let page: T[] = []
  let characters = 0
  for await (const each of all) {
    const size = charactersOf(each)
    if (page.length >= restorePageEntries || (page.length > 0 && characters + size > restorePageCharacters)) {
      yield page
      page = []
      characters = 0
    }
    page.push(each)
    characters += size
  }
  if (page.length > 0) yield page
}
