import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import type { ReactNode } from 'react'
import { formatCompact, formatNumber, formatPercent, plural } from '../../lib/format.ts'
import { Cost, estimateHint } from '../../ui/cost.tsx'
import { Duration, RunningDuration } from '../../ui/time.tsx'

/** Duration, cost and tokens of the run, so far if it is running. */
export function RunFigures({ run }: { run: ExecutionDetails }) {
  const waited = between(run.queued_at ?? run.created_at, run.started_at)
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3 lg:grid-cols-5">
      <Figure
        label="Duration"
        rest={
          waited !== null &&
          waited >= 1000 && (
            <>
              queued <Duration ms={waited} />
            </>
          )
        }
      >
        {run.status === 'running' ? (
          <RunningDuration since={run.started_at} />
        ) : (
          <Duration ms={run.duration_ms ?? between(run.started_at, run.completed_at)} />
        )}
      </Figure>
      <Figure label="Cost" rest={run.cost_estimated && <span title={estimateHint}>estimated</span>}>
        <Cost usd={run.cost} isEstimated={run.cost_estimated} />
      </Figure>
      <Figure label="Tokens" rest={run.output_tokens !== null && `${formatCompact(run.output_tokens)} out`}>
        {run.input_tokens === null ? (
          <Dash />
        ) : (
          <span title={`${formatNumber(run.input_tokens)} in, ${formatNumber(run.output_tokens ?? 0)} out`}>
            {formatCompact(run.input_tokens)} <span className="font-normal text-muted text-xs">in</span>
          </span>
        )}
      </Figure>
      <Figure label="Context" rest={run.context_max !== null && `of ${formatCompact(run.context_max)}`}>
        {run.context_used === null ? (
          <Dash />
        ) : run.context_max === null ? (
          formatCompact(run.context_used)
        ) : (
          <span title={`${formatNumber(run.context_used)} tokens`}>
            {formatPercent(run.context_used / run.context_max)}
          </span>
        )}
      </Figure>
      <Figure label="Steps" rest={run.num_turns !== null && plural(run.num_turns, 'model call')} isLast>
        {plural(run.tool_count ?? run.tool_calls.length, 'tool call')}
      </Figure>
    </dl>
  )
}

function Figure(props: { label: string; rest?: ReactNode; isLast?: boolean; children: ReactNode }) {
  return (
    <div
      className={
        props.isLast
          ? 'bg-surface px-4 py-2.5 max-sm:col-span-2 sm:max-lg:col-span-2'
          : 'bg-surface px-4 py-2.5'
      }
    >
      <dt className="text-muted text-xs">{props.label}</dt>
      <dd className="mt-0.5 flex flex-wrap items-baseline gap-x-1.5 font-semibold text-lg tabular-nums">
        {props.children}
        {props.rest && <span className="font-normal text-muted text-xs">{props.rest}</span>}
      </dd>
    </div>
  )
}

function Dash() {
  return (
    <>
      <span aria-hidden className="text-faint">
        –
      </span>
      <span className="sr-only">unknown</span>
    </>
  )
}

/** In ms; null when one of them is unknown. */
function between(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : Math.max(0, Date.parse(to) - Date.parse(from))
}
