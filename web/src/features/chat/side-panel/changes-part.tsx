import { Link } from '@tanstack/react-router'
import { ChevronRight, FileDiff } from 'lucide-react'
import { Suspense, useId, useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { cx } from '../../../ui/class-names.ts'
import { DiffView } from '../../../ui/diff-view.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { SkeletonList } from '../../../ui/skeleton.tsx'
import { RelativeTime } from '../../../ui/time.tsx'
import { visibleName } from '../../workspace/paths.ts'
import type { LiveTurns } from '../live-turns.ts'
import type { ChangedFile, FileChange } from './changed-files.ts'
import { useChangedFiles } from './use-changed-files.ts'

const TurnChanges = lazyPart(async () => (await import('../../history/turn-changes.tsx')).TurnChanges)

export type ChangesPartProps = {
  agentName: string
  /** Null: a conversation that has not begun. */
  sessionId: string | null
  turns: LiveTurns
  onOpenFile: (path: string) => void
}

/** The files that this conversation changed, with the changes as diffs. */
export function ChangesPart({ agentName, sessionId, turns, onOpenFile }: ChangesPartProps) {
  const { files, recorded, isLoading, error, retry, onEarlier, isRemoved } = useChangedFiles(
    agentName,
    sessionId,
    turns,
  )
  // All at once, so that the file that starts open is the last one changed.
  const [isReady, setReady] = useState(!isLoading)
  if (!isLoading && !isReady) setReady(true)
  if (!isReady) return <SkeletonList rows={4} label="Loading the changes of this conversation" />
  const changed = recorded.filter(({ total, git_folders }) => total > 0 || git_folders.length > 0)
  const earlier = onEarlier && (
    <Button size="sm" pending={isLoading} onClick={onEarlier}>
      Look in earlier messages
    </Button>
  )
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto p-4">
      {error !== null && (
        <ErrorState title="Could not read some of the changes" error={error} onRetry={retry} />
      )}
      {changed.length > 0 && (
        <Suspense fallback={<SkeletonList rows={2} label="Loading the changes" />}>
          {changed.map((found) => (
            <TurnChanges key={found.execution_id} found={found} onOpenFile={onOpenFile} />
          ))}
        </Suspense>
      )}
      {files.length === 0 ? (
        error === null &&
        changed.length === 0 && (
          <EmptyState
            icon={<FileDiff aria-hidden />}
            title="No changed files"
            description="Files that the agent changes in this conversation appear here. In runs without records, changes by shell commands are not shown."
            action={earlier}
          />
        )
      ) : (
        <>
          <p className="text-muted text-xs">
            Changes by the agent’s edit and write tools. Changes by shell commands are not shown. The lines of
            an edit are counted from its first line.
          </p>
          <ul
            aria-label="Changed files"
            className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
          >
            {files.map((file, index) => (
              <File
                key={file.path}
                file={file}
                agentName={agentName}
                startsOpen={index === 0}
                onOpenFile={onOpenFile}
              />
            ))}
          </ul>
        </>
      )}
      {(files.length > 0 || changed.length > 0) && <div className="flex justify-center">{earlier}</div>}
      {isRemoved && <p className="text-muted text-xs">Retention removed the transcripts of some messages.</p>}
    </div>
  )
}

type FileProps = {
  file: ChangedFile
  agentName: string
  startsOpen: boolean
  onOpenFile: (path: string) => void
}

function File({ file, agentName, startsOpen, onOpenFile }: FileProps) {
  const [isOpen, setOpen] = useState(startsOpen)
  const id = useId()
  const { path, changes, added, removed } = file
  const name = visibleName(path)
  const isInside = !path.startsWith('/')
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
        <code className="min-w-0 flex-1 break-all text-xs leading-5">
          <bdi>{name}</bdi>
        </code>
        <span className="flex shrink-0 gap-1.5 text-xs tabular-nums leading-5">
          <span className="text-success">
            +{added}
            <span className="sr-only"> lines added,</span>
          </span>
          <span className="text-danger">
            −{removed}
            <span className="sr-only"> lines removed</span>
          </span>
        </span>
      </button>
      {isOpen && (
        <div id={id} className="flex flex-col gap-3 px-3 pt-1 pb-3">
          {changes.map((change) => (
            <Change key={change.key} change={change} agentName={agentName} name={name} />
          ))}
          {isInside && (
            <Button size="sm" className="w-fit" onClick={() => onOpenFile(path)}>
              Show the file
            </Button>
          )}
        </div>
      )}
    </li>
  )
}

const words: Record<FileChange['kind'], string> = {
  edit: 'Edited',
  write: 'Written as a whole',
  named: 'Changed; the tool did not record how',
}

type ChangeProps = { change: FileChange; agentName: string; name: string }

function Change({ change, agentName, name }: ChangeProps) {
  const { kind, lines, at, isCut, executionId } = change
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <p className="flex flex-wrap gap-x-2 text-muted text-xs">
        <span>{words[kind]}</span>
        {at !== null && <RelativeTime at={at} />}
        <Link
          to="/agents/$name/executions/$id"
          params={{ name: agentName, id: executionId }}
          className="text-accent hover:underline"
        >
          Open run
        </Link>
      </p>
      {lines.length > 0 && <DiffView lines={lines} label={`Changes of ${name}`} />}
      {kind === 'write' && lines.length === 0 && <p className="text-muted text-xs">The file is empty.</p>}
      {isCut && <p className="text-muted text-xs">The change was too long and is incomplete here.</p>}
    </div>
  )
}
