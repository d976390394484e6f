import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
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
}

const rowHeight = 28

/**
 * The expanded folders with their entries. The focus stays on the tree, which names its active row, so that
 * only visible rows are rendered. Keys: arrows, Home, End, Page Up and Down, Enter, and type-ahead.
 */
export function FileTree({ label, rows, selected, onExpand, onCollapse, onChoose }: FileTreeProps) {
  const id = useId()
  const scroller = useRef<HTMLDivElement>(null)
  const [activePath, setActivePath] = useState<string | null>(null)
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
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={rows.length > 0 ? `${id}-${active}` : undefined}
      onKeyDown={onKeyDown}
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

const move = (to: number) => ({ kind: 'move', to }) as const

/** The row of the path, else the nearest visible parent folder, else the first row. */
function placeOfActive(rows: readonly TreeRow[], path: string): number {
  for (let at = path; at !== ''; at = parentOf(at)) {
    const index = rows.findIndex((row) => row.path === at)
    if (index !== -1) return index
  }
  return 0
}
