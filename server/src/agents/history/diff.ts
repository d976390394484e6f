import { posix } from 'node:path'
import { maxShownDiffBytes, type WorkspaceDiff } from '@roost/contracts/agents/workspace-history'
import {
  type Change,
  DiffTooLarge,
  type StoredEntry,
  type WorkspaceHistory,
} from '../../ports/workspace-history/port.ts'
import { inlineType } from '../workspace/index.ts'
import { shownFrom, sideOf } from './changes.ts'
import { shownPath, textOf } from './paths.ts'

type Lines = Pick<WorkspaceDiff, 'content' | 'diff' | 'truncated' | 'added_lines' | 'deleted_lines'>
type Sides = { before: StoredEntry | null; after: StoredEntry | null }

const noLines = { added_lines: null, deleted_lines: null, diff: null, truncated: false }

/** Differences of one path, which exists on at least one side. */
export async function diffOf(
  history: Pick<WorkspaceHistory, 'sizes' | 'textDiff'>,
  { path, from, before, after }: Sides & { path: string; from: string | undefined },
): Promise<Omit<WorkspaceDiff, 'before_id' | 'after_id'>> {
  const sizes = await history.sizes([before, after].filter((entry) => entry !== null))
  const [old, now] = before ? sizes : [0, ...sizes]
  return {
    ...shownPath(path),
    ...shownFrom(from),
    change: changeOf({ before, after }, from),
    before: before && sideOf(before, old ?? 0),
    after: after && sideOf(after, now ?? 0),
    ...(await linesOf(history, path, { before, after })),
  }
}

function changeOf({ before, after }: Sides, from: string | undefined): Change['change'] | 'unchanged' {
  if (!before) return 'added'
  if (!after) return 'deleted'
  if (before.kind !== after.kind || before.content !== after.content) return 'changed'
  if (from !== undefined) return 'renamed'
  const isSame = before.mode === after.mode && before.owner === after.owner && before.sparse === after.sparse
  return isSame ? 'unchanged' : 'attributes'
}

async function linesOf(
  history: Pick<WorkspaceHistory, 'textDiff'>,
  path: string,
  sides: Sides,
): Promise<Lines> {
  // A file that a folder replaced, or the other way round, is compared with nothing.
  const [before, after] = [sides.before, sides.after].map((entry) =>
    entry?.kind === 'folder' ? null : entry,
  )
  const kind = (after ?? before)?.kind
  if (!kind) return { content: 'folder', ...noLines }
  if (kind === 'file' && inlineType(posix.basename(textOf(path)))?.startsWith('image/'))
    return { content: 'image', ...noLines }
  try {
    const found = await history.textDiff(before ?? null, after ?? null)
    if (found.isBinary) return { content: 'binary', ...noLines }
    return { content: kind === 'link' ? 'link' : 'text', ...shortened(found.text) }
  } catch (error) {
    if (error instanceof DiffTooLarge) return { content: 'too_large', ...noLines }
    throw error
  }
}

function shortened(text: string): Omit<Lines, 'content'> {
  let [added_lines, deleted_lines] = [0, 0]
  for (let at = 0; at < text.length; ) {
    const sign = text[at]
    if (sign === '+') added_lines += 1
    else if (sign === '-') deleted_lines += 1
    const end = text.indexOf('\n', at)
    at = end === -1 ? text.length : end + 1
  }
  const truncated = text.length > maxShownDiffBytes
  const end = truncated ? text.lastIndexOf('\n', maxShownDiffBytes) + 1 || maxShownDiffBytes : text.length
  return { added_lines, deleted_lines, diff: text.slice(0, end).toWellFormed(), truncated }
}
