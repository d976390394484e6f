export type CsvTable = {
  columns: string[]
  rows: string[][]
  /** More rows or columns than are shown. */
  isCut: boolean
}

/** More cannot be overlooked in a page; the source shows the whole file. */
export const mostRows = 50_000
export const mostColumns = 50

const delimiters = [',', ';', '\t', '|']

/** The rows of comma-separated values. The first row names the columns. */
export function parseCsv(text: string): CsvTable {
  const [columns = [], ...rows] = records(text.replace(/^\uFEFF/, ''))
  const widest = rows.reduce((most, { length }) => Math.max(most, length), columns.length)
  const width = Math.min(mostColumns, widest)
  return {
    columns: Array.from({ length: width }, (_, index) => columns[index] ?? ''),
    rows: rows.slice(0, mostRows).map((row) => row.slice(0, mostColumns)),
    isCut: rows.length > mostRows || widest > mostColumns,
  }
}

/** By RFC 4180, where a missing quote ends with the text. Empty lines are left out. */
function records(text: string): string[][] {
  const delimiter = delimiterOf(text)
  const special = new RegExp(`["\\n\\r${delimiter === '|' ? '\\|' : delimiter}]`, 'g')
  const found: string[][] = []
  let row: string[] = []
  let cell = ''
  let isQuoted = false
  let at = 0
  const endRow = () => {
    if (row.length > 0 || cell !== '') found.push([...row, cell])
    row = []
    cell = ''
  }
  while (at < text.length && found.length <= mostRows + 1) {
    special.lastIndex = at
    const next = isQuoted ? text.indexOf('"', at) : (special.exec(text)?.index ?? -1)
    if (next === -1) {
      cell += text.slice(at)
      break
    }
    cell += text.slice(at, next)
    at = next + 1
    const character = text[next]
    if (isQuoted) {
      if (text[at] === '"') {
        cell += '"'
        at += 1
      } else isQuoted = false
    } else if (character === '"' && cell === '') isQuoted = true
    else if (character === '"') cell += '"'
    else if (character === delimiter) {
      row.push(cell)
      cell = ''
    } else endRow()
  }
  endRow()
  return found
}

/** The delimiter that the first line has most of, outside of quotes. */
function delimiterOf(text: string): string {
  const [line = ''] = text.slice(0, 10_000).split(/[\n\r]/, 1)
  const bare = line.replaceAll(/"[^"]*"/g, '')
  const counts = delimiters.map((each) => ({ each, count: bare.split(each).length }))
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).each
}
