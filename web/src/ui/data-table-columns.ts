/** The properties that decide whether a column is visible. */
export type ColumnSizing = {
  id: string
  /** In pixels; default 140. */
  width?: number
  /** The width on phones; default: `width`. */
  phoneWidth?: number
  /** 1 (default): always shown. 2: from tablet width. 3: from desktop width. */
  priority?: 1 | 2 | 3
  /** Hidden until the user chooses it. */
  hidden?: boolean
}

const tabletWidth = 540
const desktopWidth = 860

/** The width of a column in a table of this width, in pixels. */
export function columnWidth({ width = 140, phoneWidth = width }: ColumnSizing, tableWidth: number): number {
  return tableWidth < tabletWidth ? phoneWidth : width
}

/**
 * The ids of visible columns: the user's choices, and others whose priority fits the width. If they are too
 * wide, the least important are dropped, last first. `otherWidth`: pixels not used by columns.
 */
export function visibleColumnIds(
  columns: readonly ColumnSizing[],
  width: number,
  choice: Readonly<Record<string, boolean>>,
  otherWidth: number,
): Set<string> {
  const room = width >= desktopWidth ? 3 : width >= tabletWidth ? 2 : 1
  const shown = columns.filter(
    (column) => choice[column.id] ?? (!column.hidden && (column.priority ?? 1) <= room),
  )
  const widthOf = (column: ColumnSizing) => columnWidth(column, width)
  let left = width - otherWidth - shown.reduce((sum, column) => sum + widthOf(column), 0)
  const dropped = new Set<string>()
  for (const priority of [3, 2]) {
    for (const column of shown.toReversed()) {
      if (left >= 0) break
      if (choice[column.id] !== undefined || column.priority !== priority) continue
      dropped.add(column.id)
      left += widthOf(column)
    }
  }
  return new Set(shown.map(({ id }) => id).filter((id) => !dropped.has(id)))
}
