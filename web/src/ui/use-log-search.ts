import { useEffect, useMemo, useRef, useState } from 'react'
import { type LogMatches, type LogQuery, type MatchRange, maxMatches, patternOf } from './log-search.ts'
import type { SearchRequest } from './log-search.worker.ts'

export type LogSearch = {
  /** The number of matches as text: `12`, `20,000+`, or why the pattern failed. */
  words: string
  count: number
  rowOf(match: number): number
  /** In order. Returns the same array for an unchanged row, so that it need not render again. */
  rangesOf(row: number): MatchRange[]
}

const nothing: LogMatches = { found: new Int32Array(), isCut: false }
/** Time limit in milliseconds: a pattern that exceeds it would probably never end. */
const longestSearchMs = 2000
/** Debounce in milliseconds between key presses and between batches of a growing log. */
const pauseMs = 150

type Outcome = { matches: LogMatches; problem: string | null }

/** Searches the rows of a log in a worker. No matches for an empty query. */
export function useLogSearch(rows: readonly string[], query: LogQuery): LogSearch {
  const { text, isRegex, isCaseSensitive } = query
  const [{ matches, problem }, setOutcome] = useState<Outcome>({ matches: nothing, problem: null })
  const desk = useRef<SearchDesk>(null)
  useEffect(() => {
    const opened = createSearchDesk()
    desk.current = opened
    return () => opened.close()
  }, [])
  useEffect(() => {
    const options = { text, isRegex, isCaseSensitive }
    if (text === '') return setOutcome({ matches: nothing, problem: null })
    if (!patternOf(options)) return setOutcome({ matches: nothing, problem: 'Invalid regular expression' })
    const timer = setTimeout(() => desk.current?.search(rows, options, setOutcome), pauseMs)
    return () => clearTimeout(timer)
  }, [rows, text, isRegex, isCaseSensitive])
  return useMemo(() => searchOf(matches, problem, text !== ''), [matches, problem, text])
}

const noRanges: MatchRange[] = []

function searchOf({ found, isCut }: LogMatches, problem: string | null, hasQuery: boolean): LogSearch {
  const count = found.length / 3
  const byRow = new Map<number, MatchRange[]>()
  for (let match = 0; match < count; match += 1) {
    const [row = 0, start = 0, end = 0] = found.subarray(match * 3, match * 3 + 3)
    const ranges = byRow.get(row) ?? []
    ranges.push({ match, start, end })
    byRow.set(row, ranges)
  }
  const words = isCut ? `${maxMatches.toLocaleString('en')}+` : count.toLocaleString('en')
  return {
    words: problem ?? (hasQuery ? words : ''),
    count,
    rowOf: (match) => found[match * 3] ?? 0,
    rangesOf: (row) => byRow.get(row) ?? noRanges,
  }
}

type SearchDesk = {
  search(rows: readonly string[], query: LogQuery, answer: (outcome: Outcome) => void): void
  close(): void
}

/** One worker, started with the first search and replaced when a search times out. */
function createSearchDesk(): SearchDesk {
  let worker: Worker | null = null
  let sent: readonly string[] | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let lastId = 0

  function close() {
    clearTimeout(timer)
    worker?.terminate()
    worker = null
    sent = null
  }

  return {
    close,
    search(rows, query, answer) {
      worker ??= new Worker(new URL('./log-search.worker.ts', import.meta.url), { type: 'module' })
      const id = ++lastId
      worker.onmessage = ({ data }: MessageEvent<{ id: number; matches: LogMatches | null }>) => {
        if (data.id !== lastId) return
        clearTimeout(timer)
        answer({ matches: data.matches ?? nothing, problem: null })
      }
      const request: SearchRequest = { id, query, rows: sent === rows ? null : rows }
      worker.postMessage(request)
      sent = rows
      clearTimeout(timer)
      timer = setTimeout(() => {
        close()
        answer({ matches: nothing, problem: 'Search timed out' })
      }, longestSearchMs)
    },
  }
}
