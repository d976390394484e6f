import type { FileEntry } from '@roost/contracts/agents/workspace'
import { isWithin, parentOf, relativePath, visibleName } from './paths.ts'

/** The load state of an expanded folder; without entries it is loading or has failed. */
export type FolderState = { entries: readonly FileEntry[] | undefined; isFailed: boolean }

export type TreeRow = {
  path: string
  name: string
  kind: 'folder' | 'file'
  /** From 1. */
  level: number
  /** From 1, among `siblings`. */
  position: number
  siblings: number
  isOpen: boolean
  isLoading: boolean
  isFailed: boolean
}

/** The rows of the tree from top to bottom, without `removed` entries. */
export function treeRows(input: {
  folders: ReadonlyMap<string, FolderState>
  open: ReadonlySet<string>
  removed: ReadonlySet<string>
}): TreeRow[] {
  const { folders, open, removed } = input
  const rows: TreeRow[] = []
  function add(folder: string, level: number): void {
    const entries = withoutRemoved(folders.get(folder)?.entries ?? [], removed)
    for (const [index, entry] of entries.entries()) {
      const path = relativePath(entry.path)
      const isFolder = entry.type === 'directory'
      const isOpen = isFolder && open.has(path)
      const state = isOpen ? folders.get(path) : undefined
      rows.push({
        path,
        name: visibleName(entry.name),
        kind: isFolder ? 'folder' : 'file',
        level,
        position: index + 1,
        siblings: entries.length,
        isOpen,
        isLoading: isOpen && state?.entries === undefined && !state?.isFailed,
        isFailed: state?.isFailed ?? false,
      })
      if (isOpen) add(path, level + 1)
    }
  }
  add('', 1)
  return rows
}

export function withoutRemoved(
  entries: readonly FileEntry[],
  removed: ReadonlySet<string>,
): readonly FileEntry[] {
  if (removed.size === 0) return entries
  return entries.filter(({ path }) => ![...removed].some((folder) => isWithin(relativePath(path), folder)))
}

export type TreeStep =
  | { kind: 'move'; to: number }
  | { kind: 'expand' | 'collapse' | 'choose'; row: TreeRow }
  | null

/** The effect of a key while the row at `from` is active; `page` rows are visible. */
export function treeStep(rows: readonly TreeRow[], from: number, key: string, page: number): TreeStep {
  const row = rows[from]
  if (!row) return null
  const move = (to: number): TreeStep => ({ kind: 'move', to: Math.min(Math.max(to, 0), rows.length - 1) })
  switch (key) {
    case 'ArrowDown':
      return move(from + 1)
    case 'ArrowUp':
      return move(from - 1)
    case 'PageDown':
      return move(from + page)
    case 'PageUp':
      return move(from - page)
    case 'Home':
      return move(0)
    case 'End':
      return move(rows.length - 1)
    case 'ArrowRight':
      if (row.kind === 'file') return null
      if (!row.isOpen) return { kind: 'expand', row }
      return (rows[from + 1]?.level ?? 0) > row.level ? move(from + 1) : null
    case 'ArrowLeft': {
      if (row.isOpen) return { kind: 'collapse', row }
      const parent = rows.findIndex(({ path }) => path === parentOf(row.path))
      return parent === -1 ? null : move(parent)
    }
    case 'Enter':
    case ' ':
      return { kind: 'choose', row }
    default:
      return null
  }
}

/**
 * The next row whose name begins with the typed text. A single character always moves on from the active row.
 */
export function typeAhead(rows: readonly TreeRow[], from: number, typed: string): number | null {
  const prefix = typed.toLowerCase()
  const start = [...typed].length === 1 ? from + 1 : from
  for (let step = 0; step < rows.length; step++) {
    const index = (start + step) % rows.length
    if (rows[index]?.name.toLowerCase().startsWith(prefix)) return index
  }
  return null
}
