import { ChevronRight } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { cx } from '../../ui/class-names.ts'

export type FoldProps = {
  icon?: ReactNode
  title: ReactNode
  /** One line beside the title, truncated. */
  summary?: ReactNode
  /** Shown at the right end. */
  detail?: ReactNode
  /** `card` has a frame, `quiet` is a line of text. */
  variant?: 'card' | 'quiet'
  /** Rendered when it is opened for the first time. */
  children: ReactNode
}

export function Fold({ icon, title, summary, detail, variant = 'card', children }: FoldProps) {
  const [isOpen, setIsOpen] = useState(false)
  const id = useId()
  const isCard = variant === 'card'
  return (
    <div className={cx('min-w-0', isCard && 'overflow-hidden rounded-md border border-line bg-surface')}>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setIsOpen(!isOpen)}
        className={cx(
          'flex w-full min-w-0 items-center gap-2 text-left text-sm -outline-offset-2 hover:text-ink',
          isCard ? 'h-9 px-2.5 hover:bg-hover' : 'h-7 rounded-sm text-muted',
        )}
      >
        <ChevronRight
          aria-hidden
          className={cx(
            'size-3.5 shrink-0 text-faint transition-transform duration-100',
            isOpen && 'rotate-90',
          )}
        />
        {icon}
        <span className="shrink-0 font-medium">{title}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted [font-variant-ligatures:none]">
          {summary}
        </span>
        {detail && <span className="flex shrink-0 items-center gap-2 text-xs text-muted">{detail}</span>}
      </button>
      {isOpen && (
        <div id={id} className={isCard ? 'border-t border-line p-2.5' : 'pt-1 pb-2 pl-1.5'}>
          {children}
        </div>
      )}
    </div>
  )
}
