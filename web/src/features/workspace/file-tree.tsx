import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { type DragEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { FileTreeRow } from './file-tree-row.tsx'
import { parentOf } from './paths.ts'
import { type TreeRow, treeStep } from './tree-rows.ts'
import { useTypeAhead } from './use-type-ahead.ts'

export type FileTreeProps = {
  label: string
  rows: readonly TreeRow[]
  /** The path shown beside the tree; empty for the workspace root. */
  selected: string
  onExpand: (path: string) => void
  onCollapse: (path: string) => void
  /** Called on a click, Enter or Space. */
  onChoose: (row: TreeRow) => void
  /** Files were dropped on a folder, or on an entry of it. Null: nothing can be dropped. */
  onDrop: ((data: DataTransfer, folder: string) => void) | null
}

const rowHeight = 28

/**
 * The expanded folders with their entries. The focus stays on the tree, which names its active row, so that
 * only visible rows are rendered. Keys: arrows, Home, End, Page Up and Down, Enter, and type-ahead.
 */
export function FileTree(props: FileTreeProps) {
  const { label, rows, selected, onExpand, onCollapse, onChoose, onDrop } = props
  const id = useId()
  const scroller = useRef<HTMLDivElement>(null)
  const [activePath, setActivePath] = useState<string | null>(null)
  /** The folder under the dragged files. */
  const [target, setTarget] = useState<string | null>(null)
  const typed = useTypeAhead()
  const active = placeOfActive(rows, activePath ?? selected)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.path ?? index,
    overscan: 10,
    // The tree names its active row wherever it is scrolled to.
    rangeExtractor: (range) => {
      const visible = defaultRangeExtractor(range)
      return rows.length === 0 || visible.includes(active)
        ? visible
        : [...visible, active].sort((a, b) => a - b)
    },
  })
  const selectedAt = rows.findIndex(({ path }) => path === selected)
  const isSelectedThere = selectedAt !== -1
  // biome-ignore lint/correctness/useExhaustiveDependencies: the row may move; scrolls only when it is selected or appears
  useEffect(() => {
    if (isSelectedThere) virtual.scrollToIndex(selectedAt, { align: 'auto' })
  }, [selected, isSelectedThere])

  const moveTo = (index: number) => {
    const path = rows[index]?.path
    if (path === undefined) return
    setActivePath(path)
    virtual.scrollToIndex(index, { align: 'auto' })
  }
  const choose = (row: TreeRow) => {
    setActivePath(row.path)
    onChoose(row)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1)
    const found = typed(event, rows, active)
    const step =
      found === 'taken' ? null : found !== null ? move(found) : treeStep(rows, active, event.key, page)
    if (step === null && found === null) return
    event.preventDefault()
    if (step?.kind === 'move') moveTo(step.to)
    else if (step?.kind === 'expand') onExpand(step.row.path)
    else if (step?.kind === 'collapse') onCollapse(step.row.path)
    else if (step?.kind === 'choose') choose(step.row)
  }
  const onDrag = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return
    // Otherwise the browser opens the dropped file in place of this page.
    event.preventDefault()
    const folder = folderAt(event.target)
    if (event.type === 'drop') onDrop?.(event.dataTransfer, folder)
    const isOver = event.type === 'dragover' && onDrop !== null
    setTarget(isOver ? folder : null)
  }
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={rows.length > 0 ? `${id}-${active}` : undefined}
      onKeyDown={onKeyDown}
      onDragOver={onDrag}
      onDragLeave={onDrag}
      onDrop={onDrag}
      className="group/tree min-h-0 flex-1 overflow-y-auto overflow-x-hidden px-2 pb-3 outline-none"
    >
      <div role="none" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index]
          return (
            row && (
              <FileTreeRow
                key={row.path}
                id={`${id}-${index}`}
                row={row}
                top={start}
                isActive={index === active}
                isSelected={row.path === selected}
                isTarget={target !== null && target !== '' && row.path === target}
                onChoose={choose}
                onToggle={() => (row.isOpen ? onCollapse : onExpand)(row.path)}
              />
            )
          )
        })}
      </div>
    </div>
  )
}

/** The folder of the row at an element; empty for the space below the rows. */
function folderAt(element: EventTarget): string {
  const row = element instanceof Element ? element.closest<HTMLElement>('[data-folder]') : null
  return row?.dataset.folder ?? ''
}

const move = (to: number) => ({ kind: 'move', to }) as const

/** The row of the path, else the nearest visible parent folder, else the first row. */
function placeOfActive(rows: readonly TreeRow[], path: string): number {
  for (let at = path; at !== ''; at = parentOf(at)) {
    const index = rows.findIndex((row) => row.path === at)
    if (index !== -1) return index
  }
  return 0
}
