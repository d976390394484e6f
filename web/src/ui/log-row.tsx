import { memo } from 'react'
import { ansiSpans } from './ansi.ts'
import { cx } from './class-names.ts'
import { type MatchRange, markSpans } from './log-search.ts'

export type LogRowProps = {
  text: string
  /** 0 for a row that continues a line. */
  number: number
  /** Digits of the largest number. */
  digits: number
  isWrapped: boolean
  ranges: MatchRange[]
  /** The current match; null when it is not in this row. */
  current: number | null
}

export const LogRow = memo(function LogRow({
  text,
  number,
  digits,
  isWrapped,
  ranges,
  current,
}: LogRowProps) {
  return (
    <div className={cx('flex min-h-5 hover:bg-hover', !isWrapped && 'w-max min-w-full')}>
      <span
        aria-hidden
        className="sticky left-0 shrink-0 bg-sunken pr-3 pl-3 text-right text-faint select-none"
        style={{ width: `calc(${digits}ch + 1.5rem)` }}
      >
        {number || ''}
      </span>
      <span
        className={cx(
          'pr-3',
          isWrapped ? 'min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]' : 'whitespace-pre',
        )}
      >
        {markSpans(ansiSpans(text), ranges).map(({ text: piece, className, match }, index) =>
          match === null ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a row are identified only by their position
            <span key={index} className={className || undefined}>
              {piece}
            </span>
          ) : (
            <mark
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              key={index}
              className={
                match === current
                  ? 'rounded-xs bg-accent text-accent-ink'
                  : 'rounded-xs bg-warning-soft text-ink underline decoration-warning'
              }
            >
              {piece}
            </mark>
          ),
        )}
      </span>
    </div>
  )
})
