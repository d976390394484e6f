import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { LogRow } from './log-row.tsx'
import { maxRows, type LogRows as Rows } from './log-rows.ts'
import { ScrollRegion } from './scroll-region.tsx'
import type { LogSearch } from './use-log-search.ts'

export type LogRowsProps = {
  label: string
  rows: Rows
  isWrapped: boolean
  search: LogSearch
  /** The current match; negative for none. */
  current: number
  isFollowing: boolean
  /** Null when the log does not grow. */
  onFollowChange: ((isFollowing: boolean) => void) | null
  empty: string
}

const rowHeight = 20
/** Distance in pixels that still counts as the end. */
const nearEnd = 8

/** Renders the visible rows and some around them. */
export function LogRows(props: LogRowsProps) {
  const { label, rows, isWrapped, search, current, isFollowing, onFollowChange, empty } = props
  const count = rows.texts.length
  const scroller = useRef<HTMLDivElement>(null)
  const lastTop = useRef(0)
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 15,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: row heights change with wrapping
  useEffect(() => virtual.measure(), [isWrapped, virtual])
  useEffect(() => {
    if (isFollowing && count > 0) virtual.scrollToIndex(count - 1, { align: 'end' })
  }, [isFollowing, count, virtual])
  const matchRow = current < 0 ? null : search.rowOf(current)
  useEffect(() => {
    if (matchRow !== null && search.count > 0) virtual.scrollToIndex(matchRow, { align: 'center' })
  }, [matchRow, search, virtual])

  const onScroll = () => {
    const element = scroller.current
    if (!element) return
    const isUpward = element.scrollTop < lastTop.current
    lastTop.current = element.scrollTop
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd
    if (isFollowing && isUpward && !isAtEnd) onFollowChange?.(false)
    else if (!isFollowing && !isUpward && isAtEnd) onFollowChange?.(true)
  }
  const digits = String(rows.numbers.findLast((number) => number > 0) ?? 1).length
  return (
    <ScrollRegion
      ref={scroller}
      label={label}
      onScroll={onScroll}
      className="size-full overflow-auto py-1.5 font-mono text-xs leading-5 [font-variant-ligatures:none] text-ink -outline-offset-2"
    >
      {rows.omitted > 0 && (
        <p className="px-3 pb-1 font-sans text-muted">
          Showing the last {maxRows.toLocaleString('en')} rows, from line{' '}
          {(rows.omitted + 1).toLocaleString('en')}. Download the log for all rows.
        </p>
      )}
      {count === 0 && <p className="px-3 py-2 font-sans text-sm text-muted">{empty}</p>}
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            data-index={index}
            ref={isWrapped ? virtual.measureElement : undefined}
            className={isWrapped ? 'absolute inset-x-0 top-0' : 'absolute top-0 left-0 min-w-full'}
            style={{ transform: `translateY(${start}px)` }}
          >
            <LogRow
              text={rows.texts[index] ?? ''}
              number={rows.numbers[index] ?? 0}
              digits={digits}
              isWrapped={isWrapped}
              ranges={search.rangesOf(index)}
              current={index === matchRow ? current : null}
            />
          </div>
        ))}
      </div>
    </ScrollRegion>
  )
}
