import type { ChatMessage } from '@roost/contracts/conversations/chat'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { GitBranch, RotateCw } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Cost } from '../../ui/cost.tsx'
import { Duration } from '../../ui/time.tsx'
import { useNear } from '../../ui/use-near.ts'
import { endedQuery } from './queries.ts'
import { FoldButton } from './work-fold.tsx'

export type TurnFootProps = {
  agentName: string
  answer: ChatMessage
  /** Null when this page has not read the run. */
  model: string | null
  /** Hides the link to the steps, which is already above the answer. */
  hasFold: boolean
  isUnfolded: boolean
  onToggle: () => void
  /** Sends the message again, as a new turn. Null when there is none. */
  onAgain: (() => void) | null
  /** Starts a conversation with the messages up to the answer. */
  onBranch: () => void
}

/** The cost and duration of an answer. Fetches the run of an earlier answer when it comes near the screen. */
export function TurnFoot(props: TurnFootProps) {
  const { agentName, answer, hasFold, isUnfolded, onToggle, onAgain, onBranch } = props
  const { ref, isNear } = useNear<HTMLDivElement>(false)
  const { data: run } = useQuery({
    ...endedQuery(useApi(), agentName, answer.execution_id ?? ''),
    enabled: isNear && props.model === null && answer.execution_id !== null,
  })
  const model = props.model ?? run?.model_used
  return (
    <div ref={ref} className="-mt-1.5 flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-faint">
      <span className="-ml-1.5 flex">
        <CopyButton text={answer.content} label="Copy answer" />
        {onAgain && (
          <IconButton size="sm" label="Ask again" icon={<RotateCw aria-hidden />} onClick={onAgain} />
        )}
        <IconButton size="sm" label="Branch from here" icon={<GitBranch aria-hidden />} onClick={onBranch} />
      </span>
      {model && <span className="truncate">{model}</span>}
      {answer.execution_time_ms !== null && <Duration ms={answer.execution_time_ms} />}
      {answer.cost !== null && <Cost usd={answer.cost} isEstimated={answer.cost_estimated} />}
      {answer.execution_id !== null && <RunLink agentName={agentName} executionId={answer.execution_id} />}
      {!hasFold && answer.execution_id !== null && (
        <FoldButton isOpen={isUnfolded} onToggle={onToggle}>
          Steps
        </FoldButton>
      )}
    </div>
  )
}

/** Links to the run behind a turn. */
export function RunLink({ agentName, executionId }: { agentName: string; executionId: string }) {
  return (
    <Link
      to="/agents/$name/executions/$id"
      params={{ name: agentName, id: executionId }}
      className="rounded-sm text-muted hover:text-ink hover:underline"
    >
      View run
    </Link>
  )
}
