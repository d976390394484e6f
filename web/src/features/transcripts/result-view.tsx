import { CircleCheck, CircleX } from 'lucide-react'
import { formatCompact, plural } from '../../lib/format.ts'
import { Markdown } from '../../ui/markdown.tsx'
import { Duration } from '../../ui/time.tsx'
import type { ResultStep } from './steps.ts'

/**
 * The end of a turn. The answer is shown above as text, so this shows only errors. The runtime's own cost is only
 * in the raw lines, because the run has one cost: the one that Roost books.
 */
export function ResultView({ step }: { step: ResultStep }) {
  const { isError, text, totalMs, turns, usage } = step
  return (
    <div className="min-w-0">
      <dl className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line pt-2 text-xs text-muted">
        <div className="flex items-center gap-1.5">
          {isError ? (
            <CircleX aria-hidden className="size-3.5 text-danger" />
          ) : (
            <CircleCheck aria-hidden className="size-3.5 text-success" />
          )}
          <dt className="sr-only">Outcome</dt>
          <dd className={isError ? 'text-danger' : 'text-success'}>{isError ? 'Failed' : 'Done'}</dd>
        </div>
        {totalMs !== null && (
          <Fact name="Duration">
            <Duration ms={totalMs} />
          </Fact>
        )}
        {turns !== null && turns > 0 && <Fact name="Model calls">{plural(turns, 'model call')}</Fact>}
        {usage && (
          <Fact name="Tokens">
            <span data-numeric>
              {formatCompact(usage.input_tokens)} in · {formatCompact(usage.output_tokens)} out
            </span>
          </Fact>
        )}
      </dl>
      {isError && text !== null && text !== '' && (
        <Markdown text={text} className="mt-2 rounded-md bg-danger-soft px-3 py-2 text-sm" />
      )}
    </div>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="sr-only">{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
