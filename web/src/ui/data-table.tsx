import { type ReactNode, useMemo, useRef } from 'react'
import { cx } from './class-names.ts'
import { DataTableBody } from './data-table-body.tsx'
import { columnWidth } from './data-table-columns.ts'
import { ColumnMenu, DataTableHeader } from './data-table-header.tsx'
import { type DataColumn, type Sort, useOwnOr, useTableModel } from './data-table-model.ts'
import { useSelection } from './data-table-parts.tsx'
import { useBoxWidth } from './use-box-width.ts'
import { useStoredState } from './use-stored-state.ts'

export type { DataColumn, Sort } from './data-table-model.ts'

export type DataTableProps<Row extends object> = {
  /** The accessible name. */
  label: string
  /** Pass a stable array (from outside the component or `useMemo`). */
  columns: readonly DataColumn<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  /** null: keeps the order of `rows`. Omitted: the table keeps its own sort order. */
  sort?: Sort | null
  onSortChange?: (sort: Sort | null) => void
  defaultSort?: Sort | null
  /** Called on Enter and on a click outside of the row's controls. */
  onOpenRow?: (row: Row) => void
  /** The row's address: makes the first cell a link. */
  rowHref?: (row: Row) => string
  /** Names a row, e.g. on its checkbox; default: its key. */
  rowLabel?: (row: Row) => string
  selected?: ReadonlySet<string>
  onSelectedChange?: (selected: Set<string>) => void
  /** Why a row cannot be selected, as a sentence; null: it can. Pass a stable function. */
  whyNotSelectable?: (row: Row) => string | null
  /** A menu at the end of each row; needs `columnChoice`. `isActive`: the row is in the tab order. */
  rowMenu?: (row: Row, isActive: boolean) => ReactNode
  /** Shown instead of the rows when there are none. */
  empty?: ReactNode
  isLoading?: boolean
  /** Shows the column menu; the choice is stored in this browser under this name. */
  columnChoice?: boolean | string
  /**
   * In pixels. `fill`: the height of the container. `auto` (default): all rows, up to the window's height.
   */
  height?: number | 'fill' | 'auto'
  rowHeight?: number
  /** Shown below the last row, e.g. "Load more" or a count. */
  footer?: ReactNode
  /** Called when the last rows come into view. */
  onEndReached?: () => void
  className?: string
}

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { columns, rows, rowKey, isLoading = false, height = 'auto', rowHeight = 40, columnChoice } = props
  const scroller = useRef<HTMLDivElement>(null)
  const width = useBoxWidth(scroller)
  const [sort, setSort] = useOwnOr(props.sort, props.onSortChange, props.defaultSort ?? null)
  const [choice, setChoice] = useStoredState<Record<string, boolean>>(
    typeof columnChoice === 'string' ? `columns:${columnChoice}` : null,
    noChoice,
  )
  const otherWidth = ((props.onSelectedChange ? 1 : 0) + (columnChoice ? 1 : 0)) * 40
  const { visible, items, keys } = useTableModel({ columns, rows, rowKey, sort, width, otherWidth, choice })

  const { whyNotSelectable } = props
  const selectable = useMemo(
    () =>
      whyNotSelectable
        ? items.filter(({ original }) => whyNotSelectable(original) === null).map(({ id }) => id)
        : keys,
    [items, keys, whyNotSelectable],
  )
  const selection = useSelection(props, selectable)
  const isEmpty = !isLoading && items.length === 0
  const growing = visible.find((column) => column.grow) ?? visible[0]

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
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table with focusable rows is a grid
        role="grid"
        aria-label={props.label}
        aria-rowcount={items.length + 1}
        aria-busy={isLoading || undefined}
        aria-multiselectable={selection ? true : undefined}
        className="w-full table-fixed border-separate border-spacing-0"
        style={{ minWidth: sum(visible.map((column) => columnWidth(column, width))) + otherWidth }}
      >
        <colgroup>
          {selection && <col style={{ width: 40 }} />}
          {visible.map((column) => (
            <col
              key={column.id}
              style={{ width: column === growing ? undefined : columnWidth(column, width) }}
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
        <DataTableBody
          scroller={scroller}
          items={items}
          keys={keys}
          columns={visible}
          rowHeight={rowHeight}
          isLoading={isLoading}
          selected={selection?.selected ?? null}
          whyNotSelectable={whyNotSelectable}
          rowMenu={props.rowMenu}
          hasMenuColumn={Boolean(columnChoice)}
          rowLabel={props.rowLabel}
          rowHref={props.rowHref}
          onOpenRow={props.onOpenRow}
          onToggle={selection?.toggle}
          onEndReached={props.onEndReached}
        />
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

const noChoice: Record<string, boolean> = {}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
