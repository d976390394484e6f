import { ArrowDown, ArrowUp, Columns3 } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from './button.tsx'
import { Checkbox } from './checkbox.tsx'
import { cx } from './class-names.ts'
import { type DataColumn, type Sort, sortAfterClick } from './data-table-model.ts'
import { Menu } from './menu.tsx'

export type DataTableHeaderProps<Row> = {
  columns: readonly DataColumn<Row>[]
  sort: Sort | null
  onSortChange: (sort: Sort | null) => void
  /** null: the rows cannot be selected. */
  selection: { state: boolean | 'indeterminate'; onChange: (all: boolean) => void } | null
  columnMenu: ReactNode
}

export function DataTableHeader<Row>(props: DataTableHeaderProps<Row>) {
  const { columns, sort, onSortChange, selection, columnMenu } = props
  return (
    <thead className="sticky top-0 z-sticky bg-surface">
      <tr aria-rowindex={1}>
        {selection && (
          <th scope="col" className={cx(cellClass, 'w-9 pr-0')}>
            <Checkbox label="Select all" checked={selection.state} onCheckedChange={selection.onChange} />
          </th>
        )}
        {columns.map((column) => (
          <th
            key={column.id}
            scope="col"
            aria-sort={sort?.id === column.id ? (sort.desc ? 'descending' : 'ascending') : undefined}
            className={cx(cellClass, column.align === 'end' && 'text-right')}
          >
            {column.sortValue || column.sortable ? (
              <SortButton column={column} sort={sort} onSortChange={onSortChange} />
            ) : (
              <span className={column.hideHeader ? 'sr-only' : 'block truncate'}>{column.header}</span>
            )}
          </th>
        ))}
        {columnMenu && (
          <th scope="col" className={cx(cellClass, 'w-10 p-0 pr-1 text-right')}>
            {columnMenu}
          </th>
        )}
      </tr>
    </thead>
  )
}

function SortButton<Row>({
  column,
  sort,
  onSortChange,
}: Pick<DataTableHeaderProps<Row>, 'sort' | 'onSortChange'> & { column: DataColumn<Row> }) {
  const isSorted = sort?.id === column.id
  const Arrow = isSorted && sort.desc ? ArrowDown : ArrowUp
  return (
    <button
      type="button"
      onClick={() => onSortChange(sortAfterClick(column, sort))}
      className={cx(
        'group -mx-1.5 inline-flex h-7 max-w-[calc(100%+0.75rem)] items-center gap-1 rounded-sm px-1.5 font-medium hover:bg-hover hover:text-ink',
        isSorted && 'text-ink',
        column.align === 'end' && 'flex-row-reverse',
      )}
    >
      <span className="truncate">{column.header}</span>
      <Arrow
        aria-hidden
        className={cx(
          'size-3 shrink-0',
          !isSorted && 'opacity-0 group-hover:opacity-50 group-focus-visible:opacity-50',
        )}
      />
    </button>
  )
}

export type ColumnMenuProps<Row> = {
  columns: readonly DataColumn<Row>[]
  visible: readonly DataColumn<Row>[]
  onToggle: (id: string, isShown: boolean) => void
  onReset: () => void
}

export function ColumnMenu<Row>({ columns, visible, onToggle, onReset }: ColumnMenuProps<Row>) {
  const shown = new Set(visible.map((column) => column.id))
  const choices = columns.map((column, index) => ({
    label: column.header,
    checked: shown.has(column.id),
    // The first column identifies the row, so it cannot be hidden.
    disabled: index === 0,
    onSelect: () => onToggle(column.id, !shown.has(column.id)),
  }))
  return (
    <Menu
      trigger={<IconButton size="sm" label="Columns" icon={<Columns3 aria-hidden />} />}
      items={[{ heading: 'Columns' }, ...choices, 'separator', { label: 'Reset', onSelect: onReset }]}
    />
  )
}

const cellClass = 'h-9 border-b px-3 text-left text-xs font-medium whitespace-nowrap text-muted'
