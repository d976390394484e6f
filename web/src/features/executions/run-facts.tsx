import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { useSuspenseQuery } from '@tanstack/react-query'
import { formatDuration } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { meQuery } from '../users/queries.ts'
import { causesOf } from './cause.ts'
import { CauseLink } from './cause-link.tsx'
import { Part } from './run-facts-part.tsx'
import { RunFamily } from './run-family.tsx'
import { humanWords } from './words.ts'

/** Metadata of a run: cause, times and options. */
export function RunFacts({ run }: { run: ExecutionDetails }) {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  return (
    <aside aria-label="About this run" className="grid min-w-0 gap-x-8 gap-y-5 sm:grid-cols-2 xl:grid-cols-4">
      <Part title="Cause">
        <KeyValues
          items={[
            ...causesOf(run, me.id).map(({ label, text, target }) => ({
              label,
              value: (
                <CauseLink name={run.agent_name} target={target}>
                  {text}
                </CauseLink>
              ),
            })),
            run.principal !== null && { label: 'Works for', value: run.principal },
          ]}
        />
      </Part>
      <RunFamily run={run} />
      <Part title="Times">
        <KeyValues
          items={[
            { label: 'Created', value: <ExactTime at={run.created_at} /> },
            run.queued_at !== null && { label: 'Queued', value: <ExactTime at={run.queued_at} /> },
            { label: 'Started', value: run.started_at && <ExactTime at={run.started_at} /> },
            { label: 'Finished', value: run.completed_at && <ExactTime at={run.completed_at} /> },
            { label: 'Timeout', value: formatDuration(run.timeout_seconds * 1000) },
          ]}
        />
      </Part>
      <Part title="Options">
        <KeyValues
          items={[
            { label: 'Model', value: run.model_used ?? run.model },
            run.model !== null && run.model_used !== null && run.model !== run.model_used
              ? { label: 'Requested model', value: run.model }
              : null,
            { label: 'Tools', value: toolsOf(run.allowed_tools) },
            run.business_status !== null && {
              label: 'Validation',
              value: humanWords(run.business_status),
            },
            run.chain_depth > 0 && { label: 'Chain depth', value: String(run.chain_depth) },
            {
              label: 'Run ID',
              value: (
                <span className="flex items-start gap-1">
                  <span className="min-w-0 font-mono text-xs break-all">{run.id}</span>
                  <CopyButton text={run.id} label="Copy run ID" className="-my-1" />
                </span>
              ),
            },
          ]}
        />
      </Part>
    </aside>
  )
}

function toolsOf(allowed: readonly string[] | null): string {
  if (allowed === null) return 'All tools of the agent'
  return allowed.length === 0 ? 'None' : allowed.join(', ')
}
