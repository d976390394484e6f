import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { EyeOff } from 'lucide-react'
import { formatCompact, formatNumber } from '../../lib/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Cost } from '../../ui/cost.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import { Duration, RelativeTime, RunningDuration } from '../../ui/time.tsx'
import { causeLine } from './cause.ts'
import { ExecutionStatus } from './execution-status.tsx'
import { firstLine } from './first-line.ts'

type Column = DataColumn<ExecutionSummary>

const message: Column = {
  id: 'message',
  header: 'Message',
  grow: true,
  width: 180,
  phoneWidth: 112,
  cell: (run) => <RunMessage run={run} />,
}
const status: Column = {
  id: 'status',
  header: 'Status',
  width: 124,
  cell: (run) => <ExecutionStatus status={run.status} />,
}
const agent: Column = {
  id: 'agent',
  header: 'Agent',
  width: 128,
  priority: 2,
  cell: (run) => (
    <span className="flex items-center gap-1.5">
      <span className="truncate">{run.agent_name}</span>
      {run.agent_deleted && <Badge>deleted</Badge>}
    </span>
  ),
}
const rest: Column[] = [
  {
    id: 'trigger',
    header: 'Trigger',
    width: 118,
    priority: 2,
    cell: (run) => <span title={causeLine(run)}>{causeLine(run)}</span>,
  },
  {
    id: 'started',
    header: 'Created',
    width: 106,
    priority: 2,
    cell: (run) => <RelativeTime at={run.created_at} />,
  },
  {
    id: 'duration',
    header: 'Duration',
    width: 88,
    align: 'end',
    priority: 2,
    cell: (run) =>
      run.status === 'running' ? (
        <RunningDuration since={run.started_at} />
      ) : (
        <Duration ms={run.duration_ms} />
      ),
  },
  {
    id: 'cost',
    header: 'Cost',
    // Shows two digits even below a hundredth of a cent.
    width: 96,
    align: 'end',
    priority: 3,
    cell: (run) => <Cost usd={run.cost} isEstimated={run.cost_estimated} />,
  },
  {
    id: 'model',
    header: 'Model',
    width: 134,
    priority: 3,
    cell: (run) => <span title={run.model_used ?? undefined}>{run.model_used ?? <Unknown />}</span>,
  },
  {
    id: 'error',
    header: 'Error',
    width: 116,
    priority: 3,
    cell: (run) =>
      run.error_code === null ? <Unknown /> : <span title={run.error_code}>{run.error_code}</span>,
  },
  {
    id: 'tokens',
    header: 'Tokens',
    width: 80,
    align: 'end',
    priority: 3,
    cell: (run) => <Tokens run={run} />,
  },
  {
    id: 'attempt',
    header: 'Attempt',
    width: 78,
    align: 'end',
    hidden: true,
    cell: (run) => run.attempt_number,
  },
]

export const runColumns: readonly Column[] = [message, status, ...rest]
/** With agents, the agent column replaces the model column, which can still be chosen. */
export const fleetRunColumns: readonly Column[] = [
  message,
  status,
  agent,
  ...rest.map((column) => (column.id === 'model' ? { ...column, hidden: true } : column)),
]

/** The message in one line, or why it is hidden. */
export function RunMessage({ run }: { run: ExecutionSummary }) {
  if (run.redacted) {
    return (
      <span className="inline-flex items-center gap-1.5 font-normal text-muted">
        <EyeOff aria-hidden className="size-3.5 shrink-0" />
        Private conversation
      </span>
    )
  }
  return (
    <>
      {run.attempt_number > 1 && <span className="text-muted">Attempt {run.attempt_number} · </span>}
      {firstLine(run.message)}
    </>
  )
}

function Tokens({ run }: { run: ExecutionSummary }) {
  if (run.input_tokens === null || run.output_tokens === null) return <Unknown />
  const words = `${formatNumber(run.input_tokens)} input, ${formatNumber(run.output_tokens)} output`
  return <span title={words}>{formatCompact(run.input_tokens + run.output_tokens)}</span>
}

function Unknown() {
  return <span className="text-faint">–</span>
}
