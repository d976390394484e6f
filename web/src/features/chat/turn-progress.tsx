import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Spinner } from '../../ui/spinner.tsx'
import { RunningDuration } from '../../ui/time.tsx'
import { queueQuery } from '../executions/queries.ts'
import type { AnswerParts } from './answer-parts.ts'
import type { LiveTurn } from './live-turns.ts'
import { FoldButton } from './work-fold.tsx'

export type TurnProgressProps = {
  live: LiveTurn
  parts: AnswerParts
  agentName: string
  isOpen: boolean
  onToggle: () => void
}

/** The current activity of a running turn, with its steps so far. */
export function TurnProgress({ live, parts, agentName, isOpen, onToggle }: TurnProgressProps) {
  const startedAt = live.question?.at ?? live.transcript.steps[0]?.at ?? null
  const words = <Doing live={live} parts={parts} agentName={agentName} />
  return (
    <div className="flex min-h-6 flex-wrap items-center gap-x-2 text-xs text-muted">
      <Spinner />
      {parts.work.length > 0 ? (
        <FoldButton isOpen={isOpen} onToggle={onToggle}>
          <span className="truncate">{words}</span>
        </FoldButton>
      ) : (
        <span>{words}</span>
      )}
      {startedAt !== null && <RunningDuration since={startedAt} className="text-faint" />}
      {live.connection === 'waiting' && <span className="text-warning">Reconnecting…</span>}
    </div>
  )
}

function Doing({ live, parts, agentName }: Pick<TurnProgressProps, 'live' | 'parts' | 'agentName'>) {
  if (live.isStopping) return 'Stopping…'
  if (live.phase === 'sending') return 'Sending…'
  if (live.phase === 'waiting') return <Waiting live={live} agentName={agentName} />
  return parts.doing ?? 'Writing'
}

function Waiting({ live, agentName }: { live: LiveTurn; agentName: string }) {
  const { data: queue } = useQuery(queueQuery(useApi(), agentName))
  const place = queue?.queued_executions.find((row) => row.execution_id === live.executionId)?.position
  // Hides the queue position at first: most turns start immediately and it would flicker.
  const isBehind = place !== undefined && (place > 1 || (queue?.active ?? 0) > 0)
  return isBehind ? `Queued at position ${place}` : 'Starting…'
}
