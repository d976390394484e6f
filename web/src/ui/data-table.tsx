import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { cx } from './class-names.ts'
import { ColumnMenu, DataTableHeader } from './data-table-header.tsx'
import { rowAfterKey } from './data-table-keys.ts'
import {
  type DataColumn,
  defaultColumnWidth,
  type Sort,
  useOwnOr,
  useTableModel,
} from './data-table-model.ts'
import { Gap, SkeletonRows, useEndReached, useSelection } from './data-table-parts.tsx'
import { DataTableRow } from './data-table-row.tsx'
import { useBoxWidth } from './use-box-width.ts'
import { useLatest } from './use-latest.ts'
import { useRemembered } from './use-remembered.ts'

export type { DataColumn, Sort } from './data-table-model.ts'

export type DataTableProps<Row extends object> = {
  /** Names the table for screen readers. */
  label: string
  /** Keep the array itself between renders (outside the component or by `useMemo`). */
  columns: readonly DataColumn<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** null: the order of the rows as given. Left out, the table keeps its own. */
  sort?: Sort | null
  onSortChange?: (sort: Sort | null) => void
  defaultSort?: Sort | null
  /** Enter, or a click anywhere on the row that is on no control. */
  onOpenRow?: (row: Row) => void
  /** The row's address: makes the first cell a link that opens in a new tab by the usual ways. */
  rowHref?: (row: Row) => string
  /** What a row is called, e.g. on its tick box; its key unless told. */
  rowLabel?: (row: Row) => string
  selected?: ReadonlySet<string>
  onSelectedChange?: (selected: Set<string>) => void
  /** Stands in the place of the rows when there are none. */
  empty?: ReactNode
  isLoading?: boolean
  /** Lets the person choose the columns; a name keeps the choice in this browser under it. */
  columnChoice?: boolean | string
  /** Pixels; `fill`: the height of the box around it; `auto` (unless told): its rows, up to the window's height. */
  height?: number | 'fill' | 'auto'
  rowHeight?: number
  /** Below the last row: "load more", a count. */
  footer?: ReactNode
  /** The last rows have come into view. */
  onEndReached?: () => void
  className?: string
}

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { columns, rows, rowKey, isLoading = false, height = 'auto', rowHeight = 40, columnChoice } = props
  const scroller = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLTableSectionElement>(null)
  const width = useBoxWidth(scroller)
  const [sort, setSort] = useOwnOr(props.sort, props.onSortChange, props.defaultSort ?? null)
  const [choice, setChoice] = useRemembered<Record<string, boolean>>(
    typeof columnChoice === 'string' ? `columns:${columnChoice}` : null,
    noChoice,
  )
  const { visible, items, keys } = useTableModel({ columns, rows, rowKey, sort, width, choice })

  const [activeKey, setActiveKey] = useState<string | null>(null)
  const places = useMemo(() => new Map(keys.map((key, place) => [key, place])), [keys])
  const active = (activeKey === null ? undefined : places.get(activeKey)) ?? 0

  // The same function for the same rows: with another one the virtualizer measures all rows anew.
  const keyAt = useCallback((index: number) => keys[index] ?? index, [keys])
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: keyAt,
    overscan: 8,
    scrollMargin: headerHeight,
    scrollPaddingStart: headerHeight,
    initialRect: { width: 0, height: 600 },
    // The active row stays in the page however far it is scrolled away, for the focus to have a place.
    rangeExtractor: (range) => {
      const seen = defaultRangeExtractor(range)
      if (items.length === 0 || seen.includes(active)) return seen
      return [...seen, active].sort((left, right) => left - right)
    },
  })
  const drawn = virtualizer.getVirtualItems()
  useEndReached(drawn.at(-1)?.index ?? -1, items.length, props.onEndReached)

  const focusWanted = useRef(false)
  useEffect(() => {
    if (!focusWanted.current) return
    const row = body.current?.querySelector<HTMLElement>(`[data-index="${active}"]`)
    if (!row) return
    focusWanted.current = false
    row.focus({ preventScroll: true })
  })

  const move = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLTableRowElement) || event.ctrlKey || event.metaKey || event.altKey)
      return
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2)
    const next = rowAfterKey(event.key, active, items.length, page)
    const key = next === null ? undefined : keys[next]
    if (next === null || key === undefined) return
    event.preventDefault()
    focusWanted.current = true
    setActiveKey(key)
    virtualizer.scrollToIndex(next, { align: 'auto' })
  }

  const selection = useSelection(props, keys)
  const latest = useLatest(props)
  const open = useCallback((row: Row) => latest.current.onOpenRow?.(row), [latest])
  const isEmpty = !isLoading && items.length === 0
  const extra = (selection ? 1 : 0) + (columnChoice ? 1 : 0)
  const growing = visible.find((column) => column.grow) ?? visible[0]

  const rowAt = (index: number) => {
    const item = items[index]
    if (!item) return null
    const row = item.original
    return (
      <DataTableRow
        key={item.id}
        row={row}
        rowId={item.id}
        index={index}
        height={rowHeight}
        columns={visible}
        isActive={index === active}
        isSelected={selection ? selection.selected.has(item.id) : null}
        label={props.rowLabel?.(row) ?? item.id}
        href={props.rowHref?.(row) ?? null}
        isOpenable={props.onOpenRow !== undefined}
        hasMenuColumn={Boolean(columnChoice)}
        onOpen={open}
        onToggle={selection?.toggle ?? ignore}
        onActivate={setActiveKey}
      />
    )
  }

  return (
    <div
      ref={scroller}
      style={typeof height === 'number' ? { height } : undefined}
      className={cx(
        'relative min-w-0 overflow-auto overscroll-x-contain rounded-lg border border-line bg-surface',
        height === 'fill' && 'h-full min-h-0',
        height === 'auto' && 'max-h-[max(20rem,calc(100dvh-13rem))]',
        props.className,
      )}
    >
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose rows take the focus is a grid
        role="grid"
        aria-label={props.label}
        aria-rowcount={items.length + 1}
        aria-busy={isLoading || undefined}
        aria-multiselectable={selection ? true : undefined}
        className="w-full table-fixed border-separate border-spacing-0"
        style={{ minWidth: sum(visible.map((column) => column.width ?? defaultColumnWidth)) + extra * 40 }}
      >
        <colgroup>
          {selection && <col style={{ width: 40 }} />}
          {visible.map((column) => (
            <col
              key={column.id}
              style={{ width: column === growing ? undefined : (column.width ?? defaultColumnWidth) }}
            />
          ))}
          {columnChoice && <col style={{ width: 40 }} />}
        </colgroup>
        <DataTableHeader
          columns={visible}
          sort={sort}
          onSortChange={setSort}
          selection={selection && { state: selection.state, onChange: selection.toggleAll }}
          columnMenu={
            columnChoice && (
              <ColumnMenu
                columns={columns}
                visible={visible}
                onToggle={(id, isShown) => setChoice({ ...choice, [id]: isShown })}
                onReset={() => setChoice(noChoice)}
              />
            )
          }
        />
        <tbody ref={body} onKeyDown={move} className="[&>tr:last-child>td]:border-b-0">
          {isLoading && items.length === 0 ? (
            <SkeletonRows count={8} columns={visible.length + extra} height={rowHeight} />
          ) : (
            drawn.flatMap((item, position) => {
              const before = drawn[position - 1]
              const gap = item.start - (before ? before.end : headerHeight)
              return [gap > 0 && <Gap key={`gap-${item.index}`} height={gap} />, rowAt(item.index)]
            })
          )}
          <Gap height={virtualizer.getTotalSize() - ((drawn.at(-1)?.end ?? headerHeight) - headerHeight)} />
        </tbody>
      </table>
      {isLoading && (
        <span role="status" className="sr-only">
          Loading
        </span>
      )}
      {isEmpty && <div className="sticky left-0">{props.empty}</div>}
      {props.footer && <div className="sticky left-0 border-t px-4 py-2">{props.footer}</div>}
    </div>
  )
}

const headerHeight = 36
const noChoice: Record<string, boolean> = {}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Rows that cannot be selected have nothing to toggle. */
function ignore(): void {}
