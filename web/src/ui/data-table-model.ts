import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { type ReactNode, useMemo, useState } from 'react'
import { type ColumnSizing, visibleColumnIds } from './data-table-columns.ts'
import { compareValues } from './data-table-keys.ts'

/** `width` is the minimum width of a growing column. */
export type DataColumn<Row> = ColumnSizing & {
  /** The name in the header and in the column menu. */
  header: string
  /** Hides the name visually, e.g. above buttons. */
  hideHeader?: boolean
  cell: (row: Row) => ReactNode
  /** The sort value within the page; null sorts last in both directions. */
  sortValue?: (row: Row) => string | number | null | undefined
  /** The server sorts the rows; the table only reports the requested order. */
  sortable?: boolean
  /** Takes the remaining width; by default the first column does. */
  grow?: boolean
  align?: 'start' | 'end'
}

export type Sort = { id: string; desc: boolean }

export type TableModelInput<Row extends object> = {
  columns: readonly DataColumn<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  sort: Sort | null
  /** Width of the table's box in pixels. */
  width: number
  /** The part of it that no column uses. */
  otherWidth: number
  /** The user's choices by column. Other columns follow their priority. */
  choice: Readonly<Record<string, boolean>>
}

/** The visible columns and the rows in display order. */
export function useTableModel<Row extends object>(input: TableModelInput<Row>) {
  const { columns, rows, rowKey, sort, width, otherWidth, choice } = input
  const definitions = useMemo(() => columns.map(definitionOf), [columns])
  const data = useMemo(() => [...rows], [rows])
  const sorting = useMemo(() => (sort ? [sort] : []), [sort])
  const columnVisibility = useMemo(() => {
    const visibleIds = visibleColumnIds(columns, width, choice, otherWidth)
    return Object.fromEntries(columns.map(({ id }) => [id, visibleIds.has(id)]))
  }, [columns, width, otherWidth, choice])
  const sorted = columns.find((column) => column.id === sort?.id)
  const table = useTable({
    features,
    columns: definitions,
    data,
    getRowId: rowKey,
    state: { sorting, columnVisibility },
    manualSorting: !sorted?.sortValue,
  })
  const items = table.getRowModel().rows
  const visibleIds = table
    .getVisibleLeafColumns()
    .map((column) => column.id)
    .join(' ')
  const visible = useMemo(() => {
    const ids = new Set(visibleIds.split(' '))
    return columns.filter((column) => ids.has(column.id))
  }, [columns, visibleIds])
  const keys = useMemo(() => items.map((item) => item.id), [items])
  return { visible, items, keys }
}

/** Sort order and column choice are internal state unless the page controls them (in its address). */
export function useOwnOr<Value>(
  controlled: Value | undefined,
  onChange: ((value: Value) => void) | undefined,
  initial: Value,
): [Value, (value: Value) => void] {
  const [own, setOwn] = useState(initial)
  const change = (value: Value) => {
    setOwn(value)
    onChange?.(value)
  }
  return [controlled === undefined ? own : controlled, change]
}

/** The order after a click on a header: ascending, descending, none. Numbers start with the largest. */
export function sortAfterClick<Row>(column: DataColumn<Row>, sort: Sort | null): Sort | null {
  const startsDown = column.align === 'end'
  if (sort?.id !== column.id) return { id: column.id, desc: startsDown }
  return sort.desc === startsDown ? { id: column.id, desc: !startsDown } : null
}

function definitionOf<Row extends object>(column: DataColumn<Row>) {
  return {
    id: column.id,
    accessorFn: (row: Row) => column.sortValue?.(row) ?? undefined,
    sortUndefined: 'last' as const,
    sortFn: (left: Sortable, right: Sortable, id: string) =>
      compareValues(left.getValue(id), right.getValue(id)),
  }
}

/** The accessors return only these types. Missing values are handled before the comparison. */
type Sortable = { getValue: (id: string) => string | number }

const features = tableFeatures({
  rowSortingFeature,
  columnVisibilityFeature,
  sortedRowModel: createSortedRowModel(),
})
