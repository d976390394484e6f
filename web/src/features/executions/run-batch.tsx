import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { newKey } from '../../lib/new-key.ts'
import { useApp } from '../../shell/app-context.ts'
import { BatchDialog } from '../../ui/batch-dialog.tsx'
import { firstLine } from './first-line.ts'
import { runKeys } from './queries.ts'
import { actOnRun, type RunAct } from './run-acts.ts'

export type RunBatchProps = {
  act: RunAct
  runs: readonly ExecutionSummary[]
  /** `done` has the IDs of the runs that were done. */
  onClose: (done: readonly string[]) => void
}

/** One action on several runs, with a result for each. */
export function RunBatch({ act, runs, onClose }: RunBatchProps) {
  const { api, queries } = useApp()
  // The list may change while the dialog is open.
  const [count] = useState(plural(runs.length, 'run'))
  const [key] = useState(newKey)
  const { verb, description, tone } = texts[act]
  const refresh = () => {
    const names = [...new Set(runs.map(({ agent_name }) => agent_name))]
    const keys: (readonly unknown[])[] = [runKeys.fleet, ...names.map(runKeys.ofAgent)]
    for (const queryKey of keys) void queries.invalidateQueries({ queryKey })
  }
  return (
    <BatchDialog
      title={`${verb} ${count}?`}
      description={description}
      action={`${verb} ${count}`}
      tone={tone}
      rows={runs}
      keyOf={idOf}
      labelOf={labelOf}
      act={(run) => actOnRun(api, act, run, `${key}-${run.id}`)}
      onEnd={refresh}
      onClose={onClose}
    />
  )
}

const texts: Record<RunAct, { verb: string; description: string; tone: 'danger' | 'primary' }> = {
  cancel: {
    verb: 'Cancel',
    description:
      'Running runs are stopped, and queued runs are removed from the queue. This cannot be undone.',
    tone: 'danger',
  },
  retry: {
    verb: 'Retry',
    description: 'Starts a new run for each, with the same message, model, tools and timeout.',
    tone: 'primary',
  },
}

const idOf = ({ id }: ExecutionSummary) => id

const labelOf = ({ agent_name, redacted, message }: ExecutionSummary) =>
  `${agent_name}: ${redacted ? 'Private conversation' : firstLine(message)}`
