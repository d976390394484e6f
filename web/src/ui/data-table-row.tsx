import { type KeyboardEvent, type MouseEvent, memo, type ReactNode } from 'react'
import { cx } from './class-names.ts'
import type { DataColumn } from './data-table-model.ts'

export type DataTableRowProps<Row> = {
  row: Row
  rowId: string
  index: number
  height: number
  columns: readonly DataColumn<Row>[]
  /** The only row in the tab order. */
  isActive: boolean
  hasTickColumn: boolean
  /** null: the row cannot be selected. */
  isSelected: boolean | null
  /** Why it cannot, as a sentence. */
  whyNotSelectable: string | null
  label: string
  href: string | null
  isOpenable: boolean
  hasMenuColumn: boolean
  menu: ((row: Row, isActive: boolean) => ReactNode) | undefined
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
      {props.hasTickColumn && (
        <td className={tickCellClass}>
          <TickBox
            label={`Select ${label}`}
            isTicked={isSelected ?? false}
            whyDisabled={isSelected === null ? (props.whyNotSelectable ?? '') : null}
            onToggle={toggle}
          />
        </td>
      )}
      {columns.map((column, position) => (
        <td key={column.id} className={cellClassOf(column)}>
          {position === 0 && href !== null ? (
            <RowLink href={href} onOpen={props.isOpenable ? () => props.onOpen(row) : null}>
              {column.cell(row)}
            </RowLink>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
      {props.hasMenuColumn && (
        <td className="border-b pr-1 text-right">{props.menu?.(row, props.isActive)}</td>
      )}
    </tr>
  )
}

/** The native checkbox: many rows mount and unmount while the table scrolls. */
function TickBox({
  label,
  isTicked,
  whyDisabled,
  onToggle,
}: {
  label: string
  isTicked: boolean
  whyDisabled: string | null
  onToggle: (event: MouseEvent) => void
}) {
  return (
    <label
      title={whyDisabled ?? undefined}
      className="-m-1 inline-grid size-6 place-items-center align-middle"
    >
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={whyDisabled === null ? label : `${label}: ${whyDisabled}`}
        disabled={whyDisabled !== null}
        checked={isTicked}
        readOnly
        onClick={onToggle}
        className="size-4 accent-accent"
      />
    </label>
  )
}

/** A real link, for the context menu, new tabs and copying the address. */
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
    // The keyboard reaches the row itself, and Enter opens it.
    <a href={href} tabIndex={-1} onClick={follow} className="block truncate font-medium text-ink">
      {children}
    </a>
  )
}

function openFrom<Data>(event: MouseEvent<HTMLElement>, props: DataTableRowProps<Data>): void {
  // Menus and dialogs of a cell are rendered elsewhere; controls handle their own clicks.
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

function cellClassOf({ hideHeader, align }: { hideHeader?: boolean; align?: 'start' | 'end' }): string {
  if (hideHeader) return buttonsCellClass
  return align === 'end' ? endCellClass : cellClass
}

function open<Data>({ row, href, isOpenable, onOpen }: DataTableRowProps<Data>): void {
  if (isOpenable) onOpen(row)
  else if (href !== null) window.location.assign(href)
}

// No `first:` and `last:`: the browser would match sibling rules again for all rows on each change.
const cellClass = 'truncate border-b px-3 text-sm text-ink'
const endCellClass = `${cellClass} text-right tabular-nums`
// Buttons are never truncated.
const buttonsCellClass = 'border-b px-2 text-right whitespace-nowrap'
const tickCellClass = 'truncate border-b pr-0 pl-3'
