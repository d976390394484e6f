/** A log in rows of bounded length. A long line takes several rows; only the first has its number. */
export type LogRows = {
  texts: string[]
  /** From 1; 0 for a row that continues a line. */
  numbers: number[]
  /** Number of lines omitted at the start. */
  omitted: number
}

/** Browsers cannot position elements beyond about ten million pixels. */
export const maxRows = 200_000
export const maxRowLength = 2000

export function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** The newest `maxRows` rows. */
export function logRows(lines: readonly string[]): LogRows {
  const texts: string[] = []
  const numbers: number[] = []
  let index = lines.length - 1
  for (; index >= 0 && texts.length < maxRows; index -= 1) {
    const line = shownOf(lines[index] ?? '')
    // Rows are built from the end, so the last piece of a line comes first.
    for (let from = lastPiece(line); from >= 0; from -= maxRowLength) {
      texts.push(line.slice(from, from + maxRowLength))
      numbers.push(from === 0 ? index + 1 : 0)
    }
  }
  return { texts: texts.reverse(), numbers: numbers.reverse(), omitted: index + 1 }
}

/** Text after a carriage return overwrites the line: returns the final state. */
function shownOf(line: string): string {
  if (!line.includes('\r')) return line
  const end = line.trimEnd()
  return end.slice(end.lastIndexOf('\r') + 1)
}

function lastPiece(line: string): number {
  return line === '' ? 0 : Math.floor((line.length - 1) / maxRowLength) * maxRowLength
}
