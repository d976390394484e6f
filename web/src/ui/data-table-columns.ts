/** What decides whether a column is in sight. */
export type ColumnRoom = {
  id: string
  /** In pixels, 140 unless told. */
  width?: number
  /** 1 (unless told) is always there, 2 needs a tablet's width, 3 a desktop's. */
  priority?: 1 | 2 | 3
  /** Out of sight until it is chosen. */
  hidden?: boolean
}

export const defaultColumnWidth = 140

/**
 * The columns that a box of this width shows, by id: what the person chose, and of the others those whose
 * priority has room. When all of them together are wider than the box, the least important go, the last one first:
 * a column that is half out of sight takes the column menu with it. `besides`: pixels of what is no column.
 */
export function columnsInSight(
  columns: readonly ColumnRoom[],
  width: number,
  choice: Readonly<Record<string, boolean>>,
  besides: number,
): Set<string> {
  const room = width >= 860 ? 3 : width >= 540 ? 2 : 1
  const shown = columns.filter(
    (column) => choice[column.id] ?? (!column.hidden && (column.priority ?? 1) <= room),
  )
  let left = width - besides - shown.reduce((sum, column) => sum + widthOf(column), 0)
  const gone = new Set<string>()
  for (const priority of [3, 2]) {
    for (const column of shown.toReversed()) {
      if (left >= 0) break
      if (choice[column.id] !== undefined || column.priority !== priority) continue
      gone.add(column.id)
      left += widthOf(column)
    }
  }
  return new Set(shown.map(({ id }) => id).filter((id) => !gone.has(id)))
}

const widthOf = (column: ColumnRoom) => column.width ?? defaultColumnWidth
