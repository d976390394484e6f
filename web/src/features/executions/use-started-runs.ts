import { useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { executionQuery, traceQuery } from './queries.ts'
import { type Span, traceOf, walk } from './trace.ts'

/** The spans of the opened called agents, by the id of their span, on the axis of the run that called them. */
export function useStartedRuns(
  spans: readonly Span[],
  opened: ReadonlySet<string>,
  startedAt: string,
): ReadonlyMap<string, readonly Span[]> {
  const api = useApi()
  const runs = useMemo(
    () => [...walk(spans)].flatMap(({ id, run }) => (run && opened.has(id) ? [run] : [])),
    [spans, opened],
  )
  const traces = useQueries({ queries: runs.map(({ id }) => traceQuery(api, id)), combine: dataOf })
  const details = useQueries({
    queries: runs.map(({ agent_name, id, agent_deleted }) => ({
      ...executionQuery(api, agent_name, id),
      enabled: agent_deleted !== true,
    })),
    combine: dataOf,
  })
  return useMemo(() => {
    const children = runs.flatMap(({ id }, index): [string, readonly Span[]][] => {
      const trace = traces[index]
      if (!trace) return []
      const source = {
        steps: [],
        toolCalls: details[index]?.tool_calls ?? [],
        modelCalls: trace.model_calls,
        startedRuns: trace.started_runs,
      }
      return [[`run:${id}`, traceOf({ ...source, startedAt, nowMs: null }).spans]]
    })
    return new Map(children)
  }, [runs, traces, details, startedAt])
}

function dataOf<T>(results: readonly { data: T | undefined }[]): (T | undefined)[] {
  return results.map(({ data }) => data)
}
