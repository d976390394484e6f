import { useEffect, useMemo, useRef, useState } from 'react'
import { type LogMatches, type LogQuery, type MatchRange, maxMatches, patternOf } from './log-search.ts'
import type { SearchRequest } from './log-search.worker.ts'

export type LogSearch = {
  /** How many matches there are, as words: `12`, `20,000+`, or what is wrong with the pattern. */
  words: string
  count: number
  rowOf(match: number): number
  /** In order; the same array for the same row, so that a row is built again only when it must be. */
  rangesOf(row: number): MatchRange[]
}

const nothing: LogMatches = { found: new Int32Array(), isCut: false }
/** Longer than any honest search; a pattern that is not through by then would never be. */
const longestSearchMs = 2000
/** Between keys that follow each other quickly, and between batches of a log that grows. */
const pauseMs = 150

type Outcome = { matches: LogMatches; problem: string | null }

/** Finds `query` in the rows of a log, beside the page. No matches for an empty query. */
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
    const asked = { text, isRegex, isCaseSensitive }
    if (text === '') return setOutcome({ matches: nothing, problem: null })
    if (!patternOf(asked)) return setOutcome({ matches: nothing, problem: 'Not a pattern' })
    const timer = setTimeout(() => desk.current?.ask(rows, asked, setOutcome), pauseMs)
    return () => clearTimeout(timer)
  }, [rows, text, isRegex, isCaseSensitive])
  return useMemo(() => searchOf(matches, problem, text !== ''), [matches, problem, text])
}

const noRanges: MatchRange[] = []

function searchOf({ found, isCut }: LogMatches, problem: string | null, isAsked: boolean): LogSearch {
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
    words: problem ?? (isAsked ? words : ''),
    count,
    rowOf: (match) => found[match * 3] ?? 0,
    rangesOf: (row) => byRow.get(row) ?? noRanges,
  }
}

type SearchDesk = {
  ask(rows: readonly string[], query: LogQuery, answer: (outcome: Outcome) => void): void
  close(): void
}

/** One worker, opened with the first question and replaced when it takes too long. */
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
    ask(rows, query, answer) {
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
        answer({ matches: nothing, problem: 'Takes too long' })
      }, longestSearchMs)
    },
  }
}
