import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { type ReactNode, useMemo, useState } from 'react'
import { type ColumnRoom, columnsInSight } from './data-table-columns.ts'
import { compareValues } from './data-table-keys.ts'

/** Its `width` is what it has at least where it grows. */
export type DataColumn<Row> = ColumnRoom & {
  /** The column's name, in the header and in the column menu. */
  header: string
  /** The name is for screen readers and the column menu only, e.g. above buttons. */
  hideHeader?: boolean
  cell: (row: Row) => ReactNode
  /** What the table sorts by in the page; null goes last in both directions. */
  sortValue?: (row: Row) => string | number | null | undefined
  /** The rows come sorted (by the server) and only the wish is reported. */
  sortable?: boolean
  /** Takes the space that is left; the first column does when no other is marked. */
  grow?: boolean
  align?: 'start' | 'end'
}

export type Sort = { id: string; desc: boolean }

export type TableModelInput<Row extends object> = {
  columns: readonly DataColumn<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  sort: Sort | null
  /** Of the table's own box, in pixels. */
  width: number
  /** Of that, what is no column. */
  besides: number
  /** The person's choices by column; a column without one follows its priority. */
  choice: Readonly<Record<string, boolean>>
}

/** What is drawn: the columns in sight and the rows in order. */
export function useTableModel<Row extends object>(input: TableModelInput<Row>) {
  const { columns, rows, rowKey, sort, width, besides, choice } = input
  const definitions = useMemo(() => columns.map(definitionOf), [columns])
  const data = useMemo(() => [...rows], [rows])
  const sorting = useMemo(() => (sort ? [sort] : []), [sort])
  const columnVisibility = useMemo(() => {
    const inSight = columnsInSight(columns, width, choice, besides)
    return Object.fromEntries(columns.map(({ id }) => [id, inSight.has(id)]))
  }, [columns, width, besides, choice])
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

/** Sort and column choice live in the table unless the page keeps them (in its address). */
export function useOwnOr<Value>(
  given: Value | undefined,
  onChange: ((value: Value) => void) | undefined,
  initial: Value,
): [Value, (value: Value) => void] {
  const [own, setOwn] = useState(initial)
  const change = (value: Value) => {
    setOwn(value)
    onChange?.(value)
  }
  return [given === undefined ? own : given, change]
}

/** The order after a click on a header: up, down, none; numbers begin with the largest. */
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

/** The accessors above give nothing but these; what is missing is set aside before the comparison. */
type Sortable = { getValue: (id: string) => string | number }

const features = tableFeatures({
  rowSortingFeature,
  columnVisibilityFeature,
  sortedRowModel: createSortedRowModel(),
})
