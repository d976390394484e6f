import { ChevronRight, TriangleAlert } from 'lucide-react'
import { cx } from '../../ui/class-names.ts'
import { Spinner } from '../../ui/spinner.tsx'
import { EntryIcon } from './entry-icon.tsx'
import { isProtected, parentOf } from './paths.ts'
import type { TreeRow } from './tree-rows.ts'

export type FileTreeRowProps = {
  id: string
  row: TreeRow
  /** Offset in pixels from the top of the tree. */
  top: number
  isActive: boolean
  isSelected: boolean
  /** Dragged files are over it. */
  isTarget: boolean
  onChoose: (row: TreeRow) => void
  onToggle: () => void
}

export function FileTreeRow(props: FileTreeRowProps) {
  const { id, row, top, isActive, isSelected, isTarget, onChoose, onToggle } = props
  const isLocked = isProtected(row.path)
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
    <div
      id={id}
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={row.kind === 'folder' ? row.isOpen : undefined}
      aria-selected={isSelected}
      aria-busy={row.isLoading || undefined}
      data-folder={row.kind === 'folder' ? row.path : parentOf(row.path)}
      title={isLocked ? `${row.name} (protected)` : row.name}
      onClick={() => onChoose(row)}
      className={cx(
        'absolute inset-x-0 top-0 flex h-7 cursor-default items-center gap-1.5 rounded-sm pr-2 text-sm text-muted select-none hover:bg-hover hover:text-ink',
        isSelected && 'bg-hover font-medium text-ink',
        isTarget && 'outline-2 -outline-offset-2 outline-accent outline-dashed',
        isActive &&
          'group-focus-visible/tree:outline-2 group-focus-visible/tree:-outline-offset-2 group-focus-visible/tree:outline-focus',
      )}
      style={{ transform: `translateY(${top}px)`, paddingLeft: `${(row.level - 1) * 14 + 2}px` }}
    >
      <Toggle row={row} onToggle={onToggle} />
      <EntryIcon kind={row.kind} path={row.path} isOpen={row.isOpen} />
      <bdi className="min-w-0 truncate">{row.name}</bdi>
      {isLocked && <span className="sr-only">, protected</span>}
      {row.isFailed && (
        <span className="ml-auto flex text-danger">
          <TriangleAlert aria-hidden className="size-3.5" />
          <span className="sr-only">, not readable</span>
        </span>
      )}
    </div>
  )
}

/** For the mouse only: the arrow keys expand and collapse. */
function Toggle({ row, onToggle }: { row: TreeRow; onToggle: () => void }) {
  if (row.kind === 'file') return <span className="size-4 shrink-0" />
  if (row.isLoading) return <Spinner className="size-3.5! shrink-0" />
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <span
      className="grid size-4 shrink-0 place-items-center rounded-xs hover:bg-line"
      onClick={(event) => {
        event.stopPropagation()
        onToggle()
      }}
    >
      <ChevronRight aria-hidden className={cx('size-3.5', row.isOpen && 'rotate-90')} />
    </span>
  )
}
