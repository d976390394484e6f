import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { RunAnswer } from './run-answer.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunFigures } from './run-figures.tsx'
import { RunHeader } from './run-header.tsx'
import { RunProblem } from './run-problem.tsx'
import { RunTranscript, type RunView } from './run-transcript.tsx'
import { RunWaiting } from './run-waiting.tsx'

/** The search parameters that control how a run is shown. */
export type RunSearch = { view?: RunView | undefined; q?: string | undefined; line?: number | undefined }

/** A run with all its details. `onChange` replaces the search parameters; `onLine` links to a line. */
export function RunBody({
  run,
  search: { view, q, line },
  onChange,
  onLine,
}: {
  run: ExecutionDetails
  search: RunSearch
  onChange: (change: RunSearch) => void
  onLine: (line: number) => void
}) {
  return (
    <>
      <RunHeader run={run} />
      <div className="flex flex-col gap-4">
        {(run.status === 'queued' || run.status === 'pending_retry') && <RunWaiting run={run} />}
        <RunProblem run={run} />
        <RunFigures run={run} />
        <div className="grid min-w-0 gap-x-10 gap-y-8 pt-2 lg:grid-cols-[minmax(0,1fr)_18rem]">
          <div className="flex min-w-0 flex-col gap-6">
            <RunAnswer run={run} />
            <RunTranscript
              run={run}
              view={view ?? 'transcript'}
              search={q ?? ''}
              line={line}
              onViewChange={(next) => onChange({ view: next === 'transcript' ? undefined : next })}
              onSearchChange={(next) => onChange({ q: next || undefined })}
              onLine={onLine}
            />
          </div>
          <RunFacts run={run} />
        </div>
      </div>
    </>
  )
}
