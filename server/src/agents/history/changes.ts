import type { ChangeSide, WorkspaceChange, WorkspaceChanges } from '@roost/contracts/agents/workspace-history'
import { parentOf } from '@roost/contracts/link/history'
import { createPause } from '../../kit/pause.ts'
import type { Change, StoredEntry, WorkspaceHistory } from '../../ports/workspace-history/port.ts'
import { isBelow } from './omissions.ts'
import { isVisible, type ShownPath, shownPath } from './paths.ts'

export type ChangesPage = { offset: number; limit: number }
export type ListedChanges = Omit<WorkspaceChanges, 'before' | 'after'>

const maxGitFolders = 100

export const noChanges: ListedChanges = {
  counts: { added: 0, changed: 0, attributes: 0, deleted: 0, renamed: 0 },
  total: 0,
  changes: [],
  git_folders: [],
  withheld: 0,
}

/** Without paths that only one of the records left out: they were neither added nor deleted. */
export function recordedChanges(
  all: readonly Change[],
  leftOut: { before: readonly string[]; after: readonly string[] },
): Change[] {
  const [before, after] = [new Set(leftOut.before), new Set(leftOut.after)]
  return all.filter(({ change, path }) => {
    if (change === 'deleted') return !isBelow(after, path)
    return change !== 'added' || !isBelow(before, path)
  })
}

/** Lists the changes that a caller may see. What git keeps in its own folders is summed up. */
export async function listChanges(
  all: readonly Change[],
  { offset, limit }: ChangesPage,
  { isOwner, history }: { isOwner: boolean; history: Pick<WorkspaceHistory, 'sizes'> },
): Promise<ListedChanges> {
  const gitFolders = new Map<string, number>()
  const counts = { ...noChanges.counts }
  const visible: Change[] = []
  /** Folders with a change below them. */
  const parents = new Set<string>()
  let withheld = 0
  const pause = createPause()
  for (const each of all) {
    await pause()
    const change = visibleChange(each, isOwner)
    if (!change) {
      withheld += 1
      continue
    }
    const folder = gitFolderOf(change.path)
    if (folder !== null) {
      gitFolders.set(folder, (gitFolders.get(folder) ?? 0) + 1)
      continue
    }
    visible.push(change)
    parents.add(parentOf(change.path))
    if (!isFolder(change)) counts[change.change] += 1
  }
  // A folder that came or went with its files adds nothing to them.
  const listed = visible.filter(
    (each) => !isFolder(each) || each.change === 'attributes' || !parents.has(each.path),
  )
  const page = listed.slice(offset, offset + limit)
  const [before, after] = await Promise.all([
    sidesOf(page.map((each) => each.before)),
    sidesOf(page.map((each) => each.after)),
  ])

  async function sidesOf(entries: (StoredEntry | null)[]): Promise<(ChangeSide | null)[]> {
    const sizes = await history.sizes(entries.filter((entry) => entry !== null))
    let at = 0
    return entries.map((entry) => (entry ? sideOf(entry, sizes[at++] ?? 0) : null))
  }

  return {
    counts,
    total: listed.length,
    changes: page.map(
      (each, index): WorkspaceChange => ({
        ...shownPath(each.path),
        change: each.change,
        ...shownFrom(each.from),
        before: before[index] ?? null,
        after: after[index] ?? null,
      }),
    ),
    git_folders: [...gitFolders]
      .slice(0, maxGitFolders)
      .map(([path, changes]) => ({ ...shownPath(path), changes })),
    withheld,
  }
}

/** A renamed file of which one side is withheld looks added or deleted. */
function visibleChange(each: Change, isOwner: boolean): Change | null {
  const isShown = isVisible(each.path, isOwner)
  if (each.from === undefined) return isShown ? each : null
  if (isVisible(each.from, isOwner)) {
    if (isShown) return each
    return { path: each.from, change: 'deleted', before: each.before, after: null }
  }
  return isShown ? { path: each.path, change: 'added', before: null, after: each.after } : null
}

const isFolder = ({ before, after }: Change) => (after ?? before)?.kind === 'folder'

/** The `.git` folder that a path is in; null outside of one. */
function gitFolderOf(path: string): string | null {
  const found = /(?:^|\/)\.git(?=\/|$)/.exec(path)
  return found ? path.slice(0, found.index + found[0].length) : null
}

export function sideOf({ kind, mode }: StoredEntry, size: number): ChangeSide {
  return { kind, size, mode: mode.toString(8).padStart(3, '0') }
}

export function shownFrom(from: string | undefined): { from?: string; from_bytes?: string } {
  if (from === undefined) return {}
  const { path, path_bytes }: ShownPath = shownPath(from)
  return { from: path, ...(path_bytes === undefined ? {} : { from_bytes: path_bytes }) }
}
