import { CircleAlert, Info, Minimize2, TriangleAlert } from 'lucide-react'
import { memo, type ReactNode, useEffect, useRef } from 'react'
import { formatNumber } from '../../lib/format.ts'
import { cx } from '../../ui/class-names.ts'
import { Markdown } from '../../ui/markdown.tsx'
import { Duration } from '../../ui/time.tsx'
import { Fold } from './fold.tsx'
import { ResultView } from './result-view.tsx'
import type { CompactionStep, ErrorStep, NoticeStep, Step, ThinkingStep } from './steps.ts'
import { ToolView } from './tool-view.tsx'

type StepViewProps = {
  step: Step
  isStreaming: boolean
  hasPermalink: boolean
  isTarget: boolean
  /** Scrolls to the step when it becomes the target. */
  scrolls: boolean
}

export const StepView = memo(function StepView(props: StepViewProps) {
  const { step, isStreaming, hasPermalink, isTarget, scrolls } = props
  const ref = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isTarget && scrolls) ref.current?.scrollIntoView({ block: 'center' })
  }, [isTarget, scrolls])
  return (
    <li
      ref={ref}
      id={hasPermalink && step.line !== null ? `step-${step.key}` : undefined}
      aria-current={isTarget ? 'location' : undefined}
      className={cx(
        'group/step relative flex min-w-0 items-start gap-2 rounded-md',
        isTarget && 'bg-accent-soft outline outline-accent',
      )}
      style={step.depth > 0 ? { paddingInlineStart: `${step.depth}rem` } : undefined}
    >
      {hasPermalink && <Permalink line={step.line} />}
      <div className={cx('min-w-0 flex-1', step.depth > 0 && 'border-l border-line pl-3')}>
        <Content step={step} isStreaming={isStreaming} />
        {step.isCut && (
          <p className="mt-1 text-xs text-muted">This line exceeded the size limit and was truncated.</p>
        )}
      </div>
    </li>
  )
})

function Permalink({ line }: { line: number | null }) {
  if (line === null) return <span className="w-9 shrink-0 max-sm:w-7" />
  return (
    <a
      href={`#L${line}`}
      aria-label={`Line ${line}`}
      data-numeric
      className="min-h-6 w-9 shrink-0 pt-1.5 text-right font-mono text-2xs text-faint hover:text-accent hover:underline max-sm:w-7"
    >
      {line}
    </a>
  )
}

function Content({ step, isStreaming }: { step: Step; isStreaming: boolean }) {
  switch (step.kind) {
    case 'text':
      return <Markdown text={step.text} isStreaming={isStreaming || step.isPartial} className="py-0.5" />
    case 'thinking':
      return <Thinking step={step} />
    case 'tool':
      return <ToolView step={step} />
    case 'notice':
      return <Notice step={step} />
    case 'compaction':
      return <Compaction step={step} />
    case 'result':
      return <ResultView step={step} />
    case 'error':
      return <ErrorNote step={step} />
  }
}

function Thinking({ step }: { step: ThinkingStep }) {
  return (
    <Fold
      variant="quiet"
      title={step.isPartial ? 'Thinking…' : 'Thought'}
      detail={step.durationMs !== null && step.durationMs >= 1000 && <Duration ms={step.durationMs} />}
    >
      <div className="border-l-2 border-line py-1 pl-3 text-sm whitespace-pre-wrap text-muted [overflow-wrap:anywhere]">
        {step.text.slice(0, longestThought)}
        {step.text.length > longestThought && ' …'}
      </div>
    </Fold>
  )
}

const longestThought = 50_000

const levels = {
  info: { icon: Info, colour: 'text-muted', name: 'Note' },
  warning: { icon: TriangleAlert, colour: 'text-warning', name: 'Warning' },
  error: { icon: CircleAlert, colour: 'text-danger', name: 'Error' },
}

function Notice({ step }: { step: NoticeStep }) {
  const { icon: Icon, colour, name } = levels[step.level]
  return (
    <Line icon={<Icon role="img" aria-label={name} className={cx('mt-0.5 size-4 shrink-0', colour)} />}>
      {step.message}
    </Line>
  )
}

function Compaction({ step }: { step: CompactionStep }) {
  const { beforeTokens, afterTokens } = step
  return (
    <Line icon={<Minimize2 aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />}>
      Context compacted
      {beforeTokens !== null && ` from ${formatNumber(beforeTokens)} tokens`}
      {afterTokens !== null && ` to ${formatNumber(afterTokens)} tokens`}.
    </Line>
  )
}

function ErrorNote({ step }: { step: ErrorStep }) {
  return (
    <div className="flex items-start gap-2 rounded-md bg-danger-soft px-3 py-2 text-sm text-danger">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <p className="whitespace-pre-wrap">{step.message || 'The run reported an error.'}</p>
        <p className="mt-0.5 font-mono text-xs">
          {step.error}
          {step.isRetryable && ' · may be temporary'}
        </p>
      </div>
    </div>
  )
}

function Line({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <div className="flex items-start gap-2 py-1 text-sm text-muted">
      {icon}
      <p className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">{children}</p>
    </div>
  )
}
