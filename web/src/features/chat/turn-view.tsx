import { memo, Suspense, useCallback, useMemo, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { type AnswerParts, answerParts } from './answer-parts.ts'
import type { LiveTurn } from './live-turns.ts'
import { picturesOf } from './queries.ts'
import { Question } from './question.tsx'
import { TurnFailure } from './turn-failure.tsx'
import { TurnFoot } from './turn-foot.tsx'
import { TurnProgress } from './turn-progress.tsx'
import type { TurnActions, VisibleTurn } from './visible-turns.ts'
import { WorkFold } from './work-fold.tsx'

const TurnSteps = lazyPart(async () => (await import('./turn-steps.tsx')).TurnSteps)

export type TurnViewProps = Omit<VisibleTurn, 'key'> & { agentName: string; actions: TurnActions }

/** A question, the folded work, the answer and its cost. Browsers skip rendering it off screen. */
export const TurnView = memo(function TurnView({ stored, live, agentName, actions }: TurnViewProps) {
  const [isUnfolded, setUnfolded] = useState(false)
  const toggle = useCallback(() => setUnfolded((before) => !before), [])
  const parts = live ? answerParts(live.transcript) : null
  const question = stored?.question ?? null
  const answer = stored?.answer ?? null
  const api = useApi()
  const sessionId = question?.session_id ?? null
  const pictures = useMemo(
    () => (sessionId === null ? null : picturesOf(api, agentName, sessionId)),
    [api, agentName, sessionId],
  )
  const executionId = stored?.executionId ?? live?.executionId ?? null
  const isBusy = live !== null && answer === null && live.end === null && live.phase !== 'refused'
  const toolCalls = answer?.tool_calls?.length ?? 0
  return (
    <li className="flex min-w-0 flex-col gap-4 [contain-intrinsic-size:auto_160px] [content-visibility:auto]">
      {(question ?? live?.question) && (
        <Question
          stored={question}
          live={live?.question ?? null}
          pictures={pictures}
          onEdit={answer ? () => actions.onEdit({ stored, live }) : null}
        />
      )}
      {(answer ?? parts) && (
        <div className="flex min-w-0 flex-col gap-2.5">
          <h2 className="sr-only">{agentName}</h2>
          {(parts?.work.length || toolCalls > 0) && !isBusy ? (
            <WorkFold
              work={parts?.work ?? null}
              toolCalls={toolCalls}
              isOpen={isUnfolded}
              onToggle={toggle}
            />
          ) : null}
          {isBusy && live && parts && (
            <TurnProgress
              live={live}
              parts={parts}
              agentName={agentName}
              isOpen={isUnfolded}
              onToggle={toggle}
            />
          )}
          {isUnfolded && (
            <Suspense fallback={<SkeletonText lines={3} label="Loading steps" />}>
              <TurnSteps
                agentName={agentName}
                executionId={executionId}
                transcript={readSoFar(live)}
                isStreaming={isBusy}
              />
            </Suspense>
          )}
          {answer ? <Markdown text={answer.content} /> : <Streamed parts={parts} isGrowing={isBusy} />}
        </div>
      )}
      <TurnFailure stored={stored} live={live} agentName={agentName} actions={actions} />
      {answer && (
        <TurnFoot
          agentName={agentName}
          answer={answer}
          model={live?.transcript.model ?? null}
          hasFold={(parts?.work.length ?? 0) > 0 || toolCalls > 0}
          isUnfolded={isUnfolded}
          onToggle={toggle}
          onBranch={() => actions.onBranch(answer)}
          onAgain={question ? () => actions.onRetry({ stored, live }) : null}
        />
      )}
    </li>
  )
}, isSameTurn)

/** A complete live transcript is used as is; otherwise it is fetched when unfolded. */
function readSoFar(live: LiveTurn | null) {
  return live && live.transcript.lastLine > 0 ? live.transcript : null
}

function Streamed({ parts, isGrowing }: { parts: AnswerParts | null; isGrowing: boolean }) {
  if (!parts) return null
  return parts.answer.map((step, index) => (
    <Markdown
      key={step.key}
      text={step.text}
      isStreaming={isGrowing && step.isPartial && index === parts.answer.length - 1}
    />
  ))
}

/**
 * Compares by parts, because turn objects are rebuilt on every update while their parts keep their identity.
 */
function isSameTurn(before: TurnViewProps, after: TurnViewProps): boolean {
  return (
    before.live === after.live &&
    before.stored?.question === after.stored?.question &&
    before.stored?.answer === after.stored?.answer &&
    before.actions === after.actions &&
    before.agentName === after.agentName
  )
}
