import type { ChatMessage } from '@roost/contracts/conversations/chat'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Cost } from '../../ui/cost.tsx'
import { Duration } from '../../ui/time.tsx'
import { FoldButton } from './work-fold.tsx'

export type TurnFootProps = {
  answer: ChatMessage
  /** Null when it is not known here. */
  model: string | null
  /** Another way to the steps is above the answer. */
  hasFold: boolean
  isUnfolded: boolean
  onToggle: () => void
}

/** What an answer took. */
export function TurnFoot({ answer, model, hasFold, isUnfolded, onToggle }: TurnFootProps) {
  return (
    <div className="-mt-1.5 flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-faint">
      <CopyButton text={answer.content} label="Copy the answer" className="-ml-1.5" />
      {model && <span className="truncate">{model}</span>}
      {answer.execution_time_ms !== null && <Duration ms={answer.execution_time_ms} />}
      {answer.cost !== null && <Cost usd={answer.cost} />}
      {!hasFold && answer.execution_id !== null && (
        <FoldButton isOpen={isUnfolded} onToggle={onToggle}>
          Steps
        </FoldButton>
      )}
    </div>
  )
}
