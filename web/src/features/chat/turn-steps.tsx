import { ApiError } from '@roost/contracts/client'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import type { Transcript as TranscriptSteps } from '../transcripts/steps.ts'
import { Transcript } from '../transcripts/transcript.tsx'
import { transcriptOf } from '../transcripts/transcript-of.ts'
import { answerParts } from './answer-parts.ts'
import { logQuery } from './queries.ts'

export type TurnStepsProps = {
  agentName: string
  executionId: string | null
  /** The transcript read by this page; null: fetch it now. */
  transcript: TranscriptSteps | null
  isStreaming: boolean
}

/** The steps behind an answer, without the answer itself. */
export function TurnSteps({ transcript, executionId, ...rest }: TurnStepsProps) {
  return (
    <div className="border-l-2 border-line pl-3">
      {transcript ? (
        <Work transcript={transcript} isStreaming={rest.isStreaming} />
      ) : (
        executionId !== null && <FetchedSteps agentName={rest.agentName} executionId={executionId} />
      )}
    </div>
  )
}

function FetchedSteps({ agentName, executionId }: { agentName: string; executionId: string }) {
  const log = useQuery(logQuery(useApi(), agentName, executionId))
  const transcript = useMemo(() => (log.data ? transcriptOf(log.data.log) : null), [log.data])
  if (log.data?.log_removed_at) return <Note>Retention removed the steps of this answer.</Note>
  if (log.error instanceof ApiError && log.error.status === 404) {
    return <Note>The run of this answer was deleted by retention.</Note>
  }
  if (log.error) return <ErrorState error={log.error} onRetry={() => void log.refetch()} />
  if (!transcript) return <SkeletonText lines={3} label="Loading steps" />
  return <Work transcript={transcript} isStreaming={false} />
}

function Work({ transcript, isStreaming }: { transcript: TranscriptSteps; isStreaming: boolean }) {
  const { work } = answerParts(transcript)
  if (work.length > 0) return <Transcript steps={work} isStreaming={isStreaming} />
  return <Note>The agent answered directly, without visible thinking or tool calls.</Note>
}

function Note({ children }: { children: string }) {
  return <p className="py-1 text-xs text-muted">{children}</p>
}
