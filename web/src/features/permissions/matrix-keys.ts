export type Place = { row: number; column: number }

/** The cell that a key moves to; null for other keys. */
export function placeAfterKey(
  key: string,
  from: Place,
  size: { rows: number; columns: number },
): Place | null {
  const move = (row: number, column: number): Place => ({
    row: Math.max(0, Math.min(size.rows - 1, row)),
    column: Math.max(0, Math.min(size.columns - 1, column)),
  })
  switch (key) {
    case 'ArrowUp':
      return move(from.row - 1, from.column)
    case 'ArrowDown':
      return move(from.row + 1, from.column)
    case 'ArrowLeft':
      return move(from.row, from.column - 1)
    case 'ArrowRight':
      return move(from.row, from.column + 1)
    case 'Home':
      return move(from.row, 0)
    case 'End':
      return move(from.row, size.columns - 1)
    case 'PageUp':
      return move(from.row - 10, from.column)
    case 'PageDown':
      return move(from.row + 10, from.column)
    default:
      return null
  }
}
