import { findInRows, type LogQuery, patternOf } from './log-search.ts'

/**
 * Searches beside the page: a regular expression can take forever, and only a worker can be ended in the middle
 * of one. `rows` is sent again only when it has changed.
 */
export type SearchRequest = { id: number; query: LogQuery; rows: readonly string[] | null }

let rows: readonly string[] = []

self.addEventListener('message', ({ data }: MessageEvent<SearchRequest>) => {
  rows = data.rows ?? rows
  const pattern = patternOf(data.query)
  const matches = pattern && findInRows(rows, pattern)
  self.postMessage({ id: data.id, matches })
})
