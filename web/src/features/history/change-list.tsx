import type { WorkspaceChange, WorkspaceChanges } from '@roost/contracts/agents/workspace-history'
import { ChevronRight } from 'lucide-react'
import { Suspense, useId, useState } from 'react'
import { plural } from '../../lib/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Bytes } from '../../ui/bytes.tsx'
import { cx } from '../../ui/class-names.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { visibleName } from '../workspace/paths.ts'
import { type ChangesOf, pathQuery, type RestoreOf } from './queries.ts'
import { RestoreButton } from './restore-button.tsx'
import { changeWords } from './words.ts'

const DiffBody = lazyPart(async () => (await import('./diff-body.tsx')).DiffBody)

export type ChangeListProps = {
  agentName: string
  of: ChangesOf
  found: Pick<WorkspaceChanges, 'changes' | 'total' | 'git_folders' | 'withheld'>
  label: string
  /** Shows the file as it is now; left out where there is no place for it. */
  onOpenFile?: ((path: string) => void) | undefined
  /** The workspace before these changes, for people who may restore it. */
  before?: RestoreOf | undefined
}

/** Changed files with their diffs, which load when they are opened. */
export function ChangeList({ agentName, of, found, label, onOpenFile, before }: ChangeListProps) {
  const { changes, total, git_folders, withheld } = found
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {changes.length > 0 && (
        <ul
          aria-label={label}
          className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
        >
          {changes.map((change) => (
            <Change
              key={`${change.change} ${change.path_bytes ?? change.path}`}
              {...{ agentName, of, change, onOpenFile, before }}
            />
          ))}
        </ul>
      )}
      <ul className="text-muted text-xs">
        {total > changes.length && <li>{plural(total - changes.length, 'more change')}, not shown here.</li>}
        {git_folders.map((folder) => (
          <li key={folder.path_bytes ?? folder.path}>
            {plural(folder.changes, 'change')} inside of <code>{visibleName(folder.path)}</code>
          </li>
        ))}
        {withheld > 0 && <li>{plural(withheld, 'change')} of files that only the owner may read.</li>}
      </ul>
    </div>
  )
}

type ChangeProps = Pick<ChangeListProps, 'agentName' | 'of' | 'onOpenFile' | 'before'> & {
  change: WorkspaceChange
}

function Change({ agentName, of, change, onOpenFile, before: restoreOf }: ChangeProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { path, from, before, after } = change
  const { word, tone } = changeWords[change.change]
  return (
    <li className="min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full min-w-0 items-start gap-2 px-3 py-2 text-left -outline-offset-2 hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          className={cx('mt-0.5 size-3.5 shrink-0 text-faint', isOpen && 'rotate-90')}
        />
        <Badge tone={tone} className="shrink-0">
          {word}
        </Badge>
        <code className="min-w-0 flex-1 break-all text-xs leading-5">
          {from !== undefined && <span className="text-muted">{visibleName(from)} → </span>}
          <bdi>{visibleName(path)}</bdi>
        </code>
        <span className="shrink-0 text-muted text-xs leading-5">
          <Bytes bytes={(after ?? before)?.size} />
        </span>
      </button>
      {isOpen && (
        <div id={id} className="flex min-w-0 flex-col gap-2 px-3 pt-1 pb-3">
          <Suspense fallback={<SkeletonText label="Loading the diff" />}>
            <DiffBody agentName={agentName} of={of} change={change} />
          </Suspense>
          {restoreOf && change.change !== 'renamed' && (
            <RestoreButton
              agentName={agentName}
              target={{ ...restoreOf, ...pathQuery(change) }}
              label="Undo this change"
              title={`Restore ${visibleName(path)}`}
            />
          )}
          {onOpenFile && after?.kind === 'file' && change.path_bytes === undefined && (
            <Button size="sm" className="w-fit" onClick={() => onOpenFile(path)}>
              Show the file
            </Button>
          )}
        </div>
      )}
    </li>
  )
}
