import { type KeyboardEvent, type MouseEvent, memo, type ReactNode } from 'react'
import { Checkbox } from './checkbox.tsx'
import { cx } from './class-names.ts'
import type { DataColumn } from './data-table-model.ts'

export type DataTableRowProps<Row> = {
  row: Row
  rowId: string
  index: number
  height: number
  columns: readonly DataColumn<Row>[]
  /** The one row that Tab reaches. */
  isActive: boolean
  /** null: the rows cannot be selected. */
  isSelected: boolean | null
  label: string
  href: string | null
  isOpenable: boolean
  hasMenuColumn: boolean
  onOpen: (row: Row) => void
  onToggle: (key: string, range: boolean) => void
  onActivate: (key: string) => void
}

export const DataTableRow = memo(Row) as typeof Row

function Row<Data>(props: DataTableRowProps<Data>) {
  const { row, rowId, index, columns, isSelected, label, href } = props
  const canOpen = props.isOpenable || href !== null
  const toggle = (event: MouseEvent) => {
    event.stopPropagation()
    props.onToggle(rowId, event.shiftKey)
  }
  return (
    <tr
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={isSelected ?? undefined}
      tabIndex={props.isActive ? 0 : -1}
      style={{ height: props.height }}
      onFocus={() => props.onActivate(rowId)}
      onClick={canOpen ? (event) => openFrom(event, props) : undefined}
      onAuxClick={href === null ? undefined : (event) => openFrom(event, props)}
      onKeyDown={(event) => openByKey(event, props)}
      className={cx(
        'group/row outline-offset-[-2px] hover:bg-hover',
        isSelected && 'bg-accent-soft hover:bg-accent-soft',
        canOpen && 'cursor-pointer',
      )}
    >
      {isSelected !== null && (
        <td className={cx(cellClass, 'pr-0')}>
          <Checkbox tabIndex={-1} label={`Select ${label}`} checked={isSelected} onClick={toggle} />
        </td>
      )}
      {columns.map((column, position) => (
        <td key={column.id} className={cx(cellClass, column.align === 'end' && 'text-right tabular-nums')}>
          {position === 0 && href !== null ? (
            <RowLink href={href} onOpen={props.isOpenable ? () => props.onOpen(row) : null}>
              {column.cell(row)}
            </RowLink>
          ) : (
            <div className="truncate">{column.cell(row)}</div>
          )}
        </td>
      ))}
      {props.hasMenuColumn && <td className="border-b" />}
    </tr>
  )
}

/** A true link, so that the browser's own menu, new tabs and copying the address work. */
function RowLink({
  href,
  onOpen,
  children,
}: {
  href: string
  onOpen: (() => void) | null
  children: ReactNode
}) {
  const follow = (event: MouseEvent) => {
    event.stopPropagation()
    if (onOpen === null || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    onOpen()
  }
  return (
    // The row itself is what the keyboard reaches, and Enter opens it.
    <a href={href} tabIndex={-1} onClick={follow} className="block truncate font-medium text-ink">
      {children}
    </a>
  )
}

function openFrom<Data>(event: MouseEvent<HTMLElement>, props: DataTableRowProps<Data>): void {
  // Menus and dialogs opened from a cell are elsewhere in the page; what has its own action keeps it.
  if (!(event.target instanceof Element) || !event.currentTarget.contains(event.target)) return
  if (event.target.closest('a, button, input, textarea, select, label, [role=checkbox]')) return
  if (window.getSelection()?.isCollapsed === false) return
  if (props.href !== null && (event.button === 1 || event.metaKey || event.ctrlKey)) {
    window.open(props.href, '_blank', 'noopener')
    return
  }
  if (event.button === 0) open(props)
}

function openByKey<Data>(event: KeyboardEvent<HTMLElement>, props: DataTableRowProps<Data>): void {
  if (event.target !== event.currentTarget) return
  if (event.key === ' ' && props.isSelected !== null) {
    event.preventDefault()
    props.onToggle(props.rowId, event.shiftKey)
  }
  if (event.key !== 'Enter') return
  if (props.href !== null && (event.metaKey || event.ctrlKey)) {
    window.open(props.href, '_blank', 'noopener')
    return
  }
  open(props)
}

function open<Data>({ row, href, isOpenable, onOpen }: DataTableRowProps<Data>): void {
  if (isOpenable) onOpen(row)
  else if (href !== null) window.location.assign(href)
}

const cellClass = 'overflow-hidden border-b px-3 text-sm text-ink first:pl-4 last:pr-4'
