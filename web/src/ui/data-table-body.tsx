import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { rowAfterKey } from './data-table-keys.ts'
import type { DataColumn } from './data-table-model.ts'
import { Gap, SkeletonRows, useEndReached } from './data-table-parts.tsx'
import { DataTableRow } from './data-table-row.tsx'
import { useLatest } from './use-latest.ts'

export type DataTableBodyProps<Row> = {
  scroller: RefObject<HTMLDivElement | null>
  /** In display order, with their keys. */
  items: readonly { id: string; original: Row }[]
  keys: readonly string[]
  columns: readonly DataColumn<Row>[]
  rowHeight: number
  isLoading: boolean
  /** Null: the rows cannot be selected. */
  selected: ReadonlySet<string> | null
  whyNotSelectable: ((row: Row) => string | null) | undefined
  rowMenu: ((row: Row, isActive: boolean) => ReactNode) | undefined
  hasMenuColumn: boolean
  rowLabel: ((row: Row) => string) | undefined
  rowHref: ((row: Row) => string) | undefined
  onOpenRow: ((row: Row) => void) | undefined
  onToggle: ((key: string, range: boolean) => void) | undefined
  onEndReached: (() => void) | undefined
}

/** Renders the visible rows and a few around them. Only this part renders while the table scrolls. */
export function DataTableBody<Row>(props: DataTableBodyProps<Row>) {
  const { scroller, items, keys, columns, rowHeight, isLoading, selected, hasMenuColumn } = props
  const body = useRef<HTMLTableSectionElement>(null)
  const [activeKey, setActiveKey] = useState<string | null>(null)
  const places = useMemo(() => new Map(keys.map((key, place) => [key, place])), [keys])
  const active = (activeKey === null ? undefined : places.get(activeKey)) ?? 0

  // A new function identity makes the virtualizer measure all rows again.
  const keyAt = useCallback((index: number) => keys[index] ?? index, [keys])
  const virtualizer = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: keyAt,
    overscan: 6,
    scrollMargin: headerHeight,
    scrollPaddingStart: headerHeight,
    initialRect: { width: 0, height: 600 },
    // Render in an animation frame, not inside the browser's scroll event.
    useFlushSync: false,
    // Keep the active row in the DOM, so that the focus is not lost when it scrolls out of view.
    rangeExtractor: (range) => {
      const visible = defaultRangeExtractor(range)
      if (items.length === 0 || visible.includes(active)) return visible
      return [...visible, active].sort((left, right) => left - right)
    },
  })
  const drawn = virtualizer.getVirtualItems()
  useEndReached(drawn.at(-1)?.index ?? -1, items.length, props.onEndReached)

  const pendingFocus = useRef(false)
  useEffect(() => {
    if (!pendingFocus.current) return
    const row = body.current?.querySelector<HTMLElement>(`[data-index="${active}"]`)
    if (!row) return
    pendingFocus.current = false
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
    pendingFocus.current = true
    setActiveKey(key)
    virtualizer.scrollToIndex(next, { align: 'auto' })
  }

  const latest = useLatest(props)
  const open = useCallback((row: Row) => latest.current.onOpenRow?.(row), [latest])

  const rowAt = (index: number) => {
    const item = items[index]
    if (!item) return null
    const row = item.original
    const whyNot = props.whyNotSelectable?.(row) ?? null
    return (
      <DataTableRow
        key={item.id}
        row={row}
        rowId={item.id}
        index={index}
        height={rowHeight}
        columns={columns}
        isActive={index === active}
        hasTickColumn={selected !== null}
        isSelected={selected && whyNot === null ? selected.has(item.id) : null}
        whyNotSelectable={whyNot}
        label={props.rowLabel?.(row) ?? item.id}
        href={props.rowHref?.(row) ?? null}
        isOpenable={props.onOpenRow !== undefined}
        hasMenuColumn={hasMenuColumn}
        menu={props.rowMenu}
        onOpen={open}
        onToggle={props.onToggle ?? ignore}
        onActivate={setActiveKey}
      />
    )
  }

  const width = columns.length + (selected ? 1 : 0) + (hasMenuColumn ? 1 : 0)
  return (
    <tbody ref={body} onKeyDown={move}>
      {isLoading && items.length === 0 ? (
        <SkeletonRows count={8} columns={width} height={rowHeight} />
      ) : (
        drawn.flatMap((item, position) => {
          const before = drawn[position - 1]
          const gap = item.start - (before ? before.end : headerHeight)
          // Spacers keep every row at its position when the active row is rendered far above the others.
          const gapKey = before ? 'gap-between' : 'gap-above'
          return [gap > 0 && <Gap key={gapKey} height={gap} />, rowAt(item.index)]
        })
      )}
      <Gap height={virtualizer.getTotalSize() - ((drawn.at(-1)?.end ?? headerHeight) - headerHeight)} />
    </tbody>
  )
}

const headerHeight = 36

function ignore(): void {}
