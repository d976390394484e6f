/** A term, at least two spaces, and its description. */
const row = /^( *)(\S+(?: \S+)*) {2,}(\S.*)$/

/**
 * Gives the descriptions of all terms with the same indentation one column. A line that starts at or beyond the column
 * of the row above continues its description.
 */
export function alignColumns(lines: readonly string[]): string[] {
  const widths = new Map<string, number>()
  for (const line of lines) {
    const [, indent, term] = row.exec(line) ?? []
    if (indent === undefined || term === undefined) continue
    widths.set(indent, Math.max(widths.get(indent) ?? 0, term.length))
  }
  let above: { from: number; to: number } | null = null
  return lines.map((line) => {
    const [, indent, term, text] = row.exec(line) ?? []
    if (indent !== undefined && term !== undefined && text !== undefined) {
      const start = indent + term.padEnd(widths.get(indent) ?? 0)
      above = { from: line.length - text.length, to: start.length + 2 }
      return `${start}  ${text}`
    }
    const isContinued = above !== null && line.search(/\S/) >= above.from
    if (above !== null && isContinued) return ' '.repeat(above.to) + line.slice(above.from)
    above = null
    return line
  })
}
