import { withoutAnsi } from './ansi.ts'

export type LogQuery = { text: string; isRegex: boolean; isCaseSensitive: boolean }

/** Row, start and end of each match in sequence: a typed array is transferred without a copy. */
export type LogMatches = { found: Int32Array<ArrayBuffer>; isCut: boolean }

export const maxMatches = 20_000

/** Null for an invalid regular expression. */
export function patternOf({ text, isRegex, isCaseSensitive }: LogQuery): RegExp | null {
  try {
    return new RegExp(
      isRegex ? text : text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'),
      isCaseSensitive ? 'gu' : 'giu',
    )
  } catch {
    return null
  }
}

/** All matches up to `maxMatches`, in row order. Positions ignore escape sequences. */
export function findInRows(rows: readonly string[], pattern: RegExp): LogMatches {
  const found: number[] = []
  for (const [row, raw] of rows.entries()) {
    for (const match of withoutAnsi(raw).matchAll(pattern)) {
      if (match[0] === '') continue
      if (found.length === maxMatches * 3) return { found: Int32Array.from(found), isCut: true }
      found.push(row, match.index, match.index + match[0].length)
    }
  }
  return { found: Int32Array.from(found), isCut: false }
}

/** The position of a match in its row. */
export type MatchRange = { match: number; start: number; end: number }

/** A piece of a row and the number of its match; null outside matches. */
export type MarkedSpan = { text: string; className: string; match: number | null }

/** Splits the spans of a row at the bounds of the matches. `ranges` are sorted and do not overlap. */
export function markSpans(
  spans: readonly { text: string; className: string }[],
  ranges: readonly MatchRange[],
): MarkedSpan[] {
  const marked: MarkedSpan[] = []
  let at = 0
  for (const { text, className } of spans) {
    const end = at + text.length
    let from = at
    for (const range of ranges) {
      const start = Math.max(range.start, at)
      const stop = Math.min(range.end, end)
      if (start >= stop) continue
      if (start > from) marked.push({ text: text.slice(from - at, start - at), className, match: null })
      marked.push({ text: text.slice(start - at, stop - at), className, match: range.match })
      from = stop
    }
    if (from < end) marked.push({ text: text.slice(from - at), className, match: null })
    at = end
  }
  return marked
}
