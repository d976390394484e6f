import { RotateCw, TriangleAlert } from 'lucide-react'
import { describeFault } from '../lib/fault.ts'
import { Button } from './button.tsx'
import { cx } from './class-names.ts'
import { CopyButton } from './copy-button.tsx'
import { FaultCode } from './fault-code.tsx'

export type ErrorStateProps = {
  error: unknown
  onRetry?: () => void
  /** What failed, e.g. `Could not load the runs`. */
  title?: string
  className?: string
}

/** Shown instead of content that failed to load, so that a failure never looks like an empty list. */
export function ErrorState({
  error,
  onRetry,
  title = 'Could not load this content',
  className,
}: ErrorStateProps) {
  const fault = describeFault(error)
  return (
    <div
      role="alert"
      className={cx('mx-auto flex max-w-md flex-col items-center px-4 py-10 text-center', className)}
    >
      <span className="mb-3 grid size-9 place-items-center rounded-lg bg-danger-soft text-danger">
        <TriangleAlert aria-hidden className="size-4.5" />
      </span>
      <p className="text-base font-medium text-ink">{title}</p>
      <p className="mt-1 text-sm break-words text-muted">{fault.sentence}</p>
      <p className="mt-2 flex flex-wrap items-center justify-center gap-x-2 text-xs text-faint">
        <FaultCode code={fault.code} />
        {fault.requestId && (
          <span className="inline-flex items-center gap-1">
            request <code className="break-all">{fault.requestId}</code>
            <CopyButton text={fault.requestId} label="Copy request ID" />
          </span>
        )}
      </p>
      {onRetry && (
        <Button className="mt-4" icon={<RotateCw aria-hidden />} onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  )
}
