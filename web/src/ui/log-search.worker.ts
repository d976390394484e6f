import { findInRows, type LogQuery, patternOf } from './log-search.ts'

/**
 * Runs searches off the main thread: a regular expression may never end, and only a worker can be terminated.
 * `rows` is sent only when it has changed.
 */
export type SearchRequest = { id: number; query: LogQuery; rows: readonly string[] | null }

let rows: readonly string[] = []

self.addEventListener('message', ({ data }: MessageEvent<SearchRequest>) => {
  rows = data.rows ?? rows
  const pattern = patternOf(data.query)
  const matches = pattern && findInRows(rows, pattern)
  self.postMessage({ id: data.id, matches })
})
