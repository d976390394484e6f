import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { readEvents } from '../../live/stream.ts'
import { browserSetting } from '../../live/stream-setting.ts'
import { useApp } from '../../shell/app-context.ts'
import { useMediaQuery } from '../../ui/use-media-query.ts'
import { useThrottled } from '../../ui/use-throttled.ts'
import { useHashLine } from '../transcripts/use-hash-line.ts'
import { type LiveTranscript, useLiveTranscript } from '../transcripts/use-live-transcript.ts'
import { runKeys, traceQuery, transcriptStream } from './queries.ts'
import type { RunChange, RunSearch } from './run-search.ts'
import { RunTrace } from './run-trace.tsx'
import { RunTranscript } from './run-transcript.tsx'
import { traceOf, walk } from './trace.ts'

/** Time between two reads of the model calls of a running run, in ms. */
const tracePaceMs = 3000

/** The trace and the transcript of a run, with one selection: a span and its line. */
export function RunSteps(props: { run: ExecutionDetails; search: RunSearch; onChange: RunChange }) {
  const { run, search, onChange } = props
  const { api, queries } = useApp()
  const live = useLiveTranscript(run.log_removed_at === null ? run.id : null, ({ signal, onState }) =>
    readEvents(transcriptStream(api, run), { signal, onState, setting: browserSetting() }),
  )
  const hasEnded = live.end !== null
  // The stream reports the end immediately; the socket may be late or miss it.
  useEffect(() => {
    if (hasEnded) void queries.invalidateQueries({ queryKey: ['execution', run.id] })
  }, [hasEnded, queries, run.id])

  const startedAt = run.started_at ?? run.created_at
  const trace = useTrace(run, live, startedAt)
  const isWide = useMediaQuery('(min-width: 80rem)')
  const hashLine = useHashLine()
  const line = hashLine ?? search.line ?? null
  const named = hashLine === null ? search.span : undefined
  const selected = named ?? (line === null ? null : (trace.byLine.get(line) ?? null))
  const span = useMemo(
    () => (selected === null ? undefined : [...walk(trace.spans)].find(({ id }) => id === selected)),
    [trace, selected],
  )
  const hasTrace = trace.spans.length > 0
  return (
    <div className={hasTrace ? 'grid min-w-0 gap-x-8 gap-y-6 xl:grid-cols-2' : 'min-w-0'}>
      {hasTrace && (
        <section
          aria-labelledby="run-trace"
          className="flex min-w-0 flex-col gap-2 self-start xl:sticky xl:top-14 xl:max-h-[calc(100dvh-4rem)]"
        >
          <h2 id="run-trace" className="font-semibold text-sm">
            Trace
          </h2>
          <RunTrace
            trace={trace}
            label="Trace of the run"
            startedAt={startedAt}
            selected={selected}
            onSelect={(id) => onChange({ span: id ?? undefined, line: undefined })}
            onLine={(to) => onChange({ line: to, span: selected ?? undefined, view: undefined })}
          />
        </section>
      )}
      <RunTranscript
        run={run}
        live={live}
        view={search.view ?? 'transcript'}
        search={search.q ?? ''}
        line={line ?? span?.line ?? undefined}
        scrollsToLine={isWide || line !== null}
        onViewChange={(view) => onChange({ view: view === 'transcript' ? undefined : view })}
        onSearchChange={(q) => onChange({ q: q || undefined })}
      />
    </div>
  )
}

function useTrace(run: ExecutionDetails, { transcript }: LiveTranscript, startedAt: string) {
  const { api, queries } = useApp()
  const { data } = useQuery(traceQuery(api, run.id))
  const isRunning = run.status === 'running'
  const steps = useThrottled(transcript.steps.length, tracePaceMs)
  useEffect(() => {
    if (isRunning && steps > 0) void queries.invalidateQueries({ queryKey: runKeys.trace(run.id) })
  }, [isRunning, steps, queries, run.id])
  const now = useSecond(isRunning)
  return useMemo(
    () =>
      traceOf({
        steps: transcript.steps,
        modelCalls: data?.model_calls ?? [],
        startedRuns: data?.started_runs ?? [],
        startedAt,
        nowMs: isRunning ? now : null,
      }),
    [transcript.steps, data, startedAt, isRunning, now],
  )
}

/** The current time, updated every second while needed and visible. */
function useSecond(isEnabled: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isEnabled) return
    const timer = setInterval(() => document.hidden || setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isEnabled])
  return now
}
