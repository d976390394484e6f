import { ChevronLeft, ChevronRight } from 'lucide-react'
import { plural } from '../lib/format.ts'
import { IconButton } from './button.tsx'

export type PagerProps = {
  /** From 1. */
  page: number
  pageSize: number
  /** The number of all matching rows; null while unknown. */
  total: number | null
  onPageChange: (page: number) => void
  /** The singular noun of a row, e.g. `run`. */
  noun: string
  /** Labels of the previous and next page. The default fits lists with the newest row first. */
  before?: string
  after?: string
}

/** Shows which rows of how many are visible, with buttons for the other pages. */
export function Pager(props: PagerProps) {
  const { page, pageSize, total, onPageChange, noun, before = 'Newer', after = 'Older' } = props
  if (total === null) return <div className="h-7" />
  const pages = Math.max(1, Math.ceil(total / pageSize))
  return (
    <nav aria-label={`Pages of ${noun}s`} className="flex h-7 items-center gap-1 text-xs text-muted">
      <span data-numeric className="flex-1" aria-live="polite">
        {rangeWords(props, total, pages)}
      </span>
      {pages > 1 && (
        <>
          <IconButton
            size="sm"
            label={before}
            icon={<ChevronLeft aria-hidden />}
            disabled={page <= 1}
            onClick={() => onPageChange(page - 1)}
          />
          <span data-numeric>
            {number(Math.min(page, pages))} / {number(pages)}
          </span>
          <IconButton
            size="sm"
            label={after}
            icon={<ChevronRight aria-hidden />}
            disabled={page >= pages}
            onClick={() => onPageChange(page + 1)}
          />
        </>
      )}
    </nav>
  )
}

function rangeWords({ page, pageSize, noun }: PagerProps, total: number, pages: number): string {
  if (total === 0) return `No ${noun}s`
  if (pages === 1) return plural(total, noun)
  const from = Math.min((page - 1) * pageSize + 1, total)
  const to = Math.min(page * pageSize, total)
  return `${number(from)}–${number(to)} of ${plural(total, noun)}`
}

const number = (value: number) => value.toLocaleString('en')
