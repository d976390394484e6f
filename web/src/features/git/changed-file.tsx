import type { GitLastChange } from '@roost/contracts/agents/git'
import { ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import { cx } from '../../ui/class-names.ts'
import type { DiffPart } from '../../ui/diff-lines.ts'
import { DiffView } from '../../ui/diff-view.tsx'

export type ChangedFileProps = {
  file: GitLastChange['files'][number]
  /** Null: the diff was cut before this file. */
  part: DiffPart | null
  /** The diff was cut within this file. */
  isCut: boolean
}

/** A changed file with its collapsed diff. */
export function ChangedFile({ file, part, isCut }: ChangedFileProps) {
  const [isOpen, setIsOpen] = useState(false)
  const id = useId()
  const { path, previous_path, status, additions, deletions } = file
  return (
    <li className="min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
        className="flex w-full min-w-0 items-start gap-2 px-3 py-1.5 text-left -outline-offset-2 hover:bg-hover"
      >
        <ChevronRight
          aria-hidden
          className={cx('mt-0.5 size-3.5 shrink-0 text-faint', isOpen && 'rotate-90')}
        />
        <span className="w-16 shrink-0 text-muted text-xs leading-5">{status}</span>
        <code className="min-w-0 flex-1 break-all text-xs leading-5">
          {previous_path !== null && <span className="text-muted">{previous_path} → </span>}
          {path}
        </code>
        {additions === null || deletions === null ? (
          <span className="shrink-0 text-muted text-xs leading-5">binary</span>
        ) : (
          <span className="flex shrink-0 gap-1.5 text-xs tabular-nums leading-5">
            <span className="text-success">+{additions}</span>
            <span className="text-danger">−{deletions}</span>
          </span>
        )}
      </button>
      {isOpen && (
        <div id={id} className="flex flex-col gap-2 px-3 pt-1 pb-3">
          {part && part.lines.length > 0 && <DiffView lines={part.lines} label={`Changes of ${path}`} />}
          <Remark part={part} isCut={isCut} />
        </div>
      )}
    </li>
  )
}

function Remark({ part, isCut }: Pick<ChangedFileProps, 'part' | 'isCut'>) {
  const text = remarkOf(part, isCut)
  return text && <p className="text-muted text-xs">{text}</p>
}

function remarkOf(part: DiffPart | null, isCut: boolean): string | null {
  if (part === null) return 'The diff is too long to show this file.'
  if (part.isBinary) return 'This is a binary file, so no diff is shown.'
  if (isCut) return 'The diff is too long and may be incomplete here.'
  return part.lines.length === 0
    ? 'The content did not change: the file is empty, was renamed, or its mode changed.'
    : null
}
