import {
  getRunChanges,
  getRunDiff,
  type RunChanges,
  type WorkspaceChange,
  type WorkspaceChanges,
  type WorkspaceDiff,
} from '@roost/contracts/agents/workspace-history'
import type { CommandContext } from './client/client-command.ts'
import { facts, plainText, table } from './client/output.ts'
import { styled } from './terminal/style.ts'

type Listed = Pick<WorkspaceChanges, 'counts' | 'changes' | 'total' | 'git_folders' | 'withheld'>

const statusNotes: Record<Exclude<RunChanges['status'], 'recorded'>, string> = {
  recording: 'The run is still being recorded.',
  skipped: 'The workspace was not recorded for this run.',
  failed: 'The records of this run are not complete.',
  not_recorded: 'The workspace was not recorded for this run.',
  removed: 'Retention removed the records of this run.',
}
/** Diffs printed without a path; further ones are named. */
const maxDiffs = 100

export async function printRunChanges({ api, print }: CommandContext, id: string): Promise<void> {
  const found = await api.call(getRunChanges, { params: { id }, query: { limit: '1000' } })
  print(found, () => {
    if (found.status !== 'recorded')
      return `${statusNotes[found.status]}${found.reason === null ? '' : ` Reason: ${found.reason}.`}`
    const shared =
      found.overlapping_count === 0
        ? []
        : [`Runs at the same time share these changes: ${found.overlapping_runs.join(', ')}.`]
    return [changeLines(found), ...shared].join('\n')
  })
}

/** The files, one per line, below their counts. */
export function changeLines({ counts, changes, total, git_folders, withheld }: Listed): string {
  const head = facts(Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)))
  const files = changes.map((each) => [each.change, sizesOf(each), nameOf(each)])
  return [
    ...(head === '' ? ['Nothing changed.'] : [head, '']),
    ...(files.length > 0 ? [table(['change', 'bytes', 'path'], files)] : []),
    ...git_folders.map(({ path, changes: count }) => `${count} changes inside of ${plainText(path)}`),
    ...(total > changes.length ? [`${total - changes.length} more changes.`] : []),
    ...(withheld > 0 ? [`${withheld} changes of files that you may not read.`] : []),
  ].join('\n')
}

function sizesOf({ before, after, change }: WorkspaceChange): string {
  if (!before || !after || change === 'renamed') return String((after ?? before)?.size ?? '')
  return `${before.size} → ${after.size}`
}

const nameOf = ({ path, from }: Pick<WorkspaceChange, 'path' | 'from'>) =>
  from === undefined ? path : `${from} → ${path}`

export async function printRunDiff(
  { api, print }: CommandContext,
  id: string,
  path: string | undefined,
): Promise<void> {
  const params = { id }
  if (path !== undefined) {
    const diff = await api.call(getRunDiff, { params, query: { path } })
    return print(diff, () => diffText(diff))
  }
  const found = await api.call(getRunChanges, { params, query: { limit: String(maxDiffs) } })
  const diffs: WorkspaceDiff[] = []
  for (const each of found.changes) {
    const { path: named, path_bytes, from, from_bytes } = each
    const query = {
      ...(path_bytes === undefined ? { path: named } : { path_bytes }),
      ...(from_bytes === undefined ? { from } : { from_bytes }),
    }
    diffs.push(await api.call(getRunDiff, { params, query }))
  }
  print(diffs, () => {
    if (found.status !== 'recorded') return statusNotes[found.status]
    const left = found.total - diffs.length
    return [
      ...diffs.map(diffText),
      ...(diffs.length === 0 ? ['Nothing changed.'] : []),
      ...(left > 0 ? [`${left} more changed files: name one to see its diff.`] : []),
    ].join('\n')
  })
}

const contentNotes: Record<Exclude<WorkspaceDiff['content'], 'text' | 'link'>, string> = {
  image: 'image',
  binary: 'binary file',
  folder: 'folder',
  too_large: 'too large to compare',
}

function diffText(diff: WorkspaceDiff): string {
  const head = styled('bold', plainText(`${diff.change} ${nameOf(diff)}`))
  if (diff.content !== 'text' && diff.content !== 'link')
    return `${head}\n${contentNotes[diff.content]}: ${diff.before?.size ?? 0} → ${diff.after?.size ?? 0} bytes`
  const text = plainText(diff.diff ?? '').replace(/\n$/, '')
  return [head, ...(text === '' ? [] : [text]), ...(diff.truncated ? ['The diff is cut.'] : [])].join('\n')
}
