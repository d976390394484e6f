import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { Suspense, useRef } from 'react'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { useMediaQuery } from '../../ui/use-media-query.ts'
import { RunAnswer } from './run-answer.tsx'
import { RunBar } from './run-bar.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunFigures } from './run-figures.tsx'
import { RunHeader } from './run-header.tsx'
import { RunProblem } from './run-problem.tsx'
import type { RunChange, RunSearch } from './run-search.ts'
import { RunSteps } from './run-steps.tsx'
import { RunWaiting } from './run-waiting.tsx'

const RunChanges = lazyPart(async () => (await import('../history/run-changes.tsx')).RunChanges)

/** A run with all its details. */
export function RunBody(props: { run: ExecutionDetails; search: RunSearch; onChange: RunChange }) {
  const { run, search, onChange } = props
  // On small screens the steps come first.
  const isWide = useMediaQuery('(min-width: 64rem)')
  const header = useRef<HTMLDivElement>(null)
  return (
    <>
      <div ref={header}>
        <RunHeader run={run} list={search.list} />
      </div>
      <RunBar run={run} list={search.list} header={header} />
      <div className="flex flex-col gap-5">
        {(run.status === 'queued' || run.status === 'pending_retry') && <RunWaiting run={run} />}
        <RunProblem run={run} />
        <RunFigures run={run} />
        <RunAnswer run={run} />
        {run.started_at !== null && run.agent_deleted !== true && (
          <Suspense fallback={<SkeletonList rows={2} label="Loading the changes" />}>
            <RunChanges id={run.id} />
          </Suspense>
        )}
        {isWide && <RunFacts run={run} />}
        <RunSteps run={run} search={search} onChange={onChange} />
        {!isWide && <RunFacts run={run} />}
      </div>
    </>
  )
}
