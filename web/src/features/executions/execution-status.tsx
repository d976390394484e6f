import type { ExecutionStatus as Status } from '@roost/contracts/runs/executions'
import { StatusDot } from '../../ui/badge.tsx'
import { statusWords } from './words.ts'

/** The status of a run as a mark and a word; animated while it runs. */
export function ExecutionStatus({ status, compact }: { status: Status; compact?: boolean }) {
  const { label, tone } = statusWords[status]
  return <StatusDot tone={tone} label={label} pulse={status === 'running'} compact={compact ?? false} />
}
