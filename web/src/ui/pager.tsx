import { ChevronLeft, ChevronRight } from 'lucide-react'
import { IconButton } from './button.tsx'

export type PagerProps = {
  /** From 1. */
  page: number
  pageSize: number
  /** Of all rows that match; null while it is not known. */
  total: number | null
  onPageChange: (page: number) => void
  /** What is counted, e.g. `runs`. */
  noun: string
  /** Names of the ways to the page before and after; of a list that begins with the newest by itself. */
  before?: string
  after?: string
}

/** Which rows of how many are shown, and the way to the ones before and after. */
export function Pager(props: PagerProps) {
  const { page, pageSize, total, onPageChange, noun, before = 'Newer', after = 'Older' } = props
  if (total === null) return <div className="h-7" />
  const pages = Math.max(1, Math.ceil(total / pageSize))
  const from = Math.min((page - 1) * pageSize + 1, total)
  const to = Math.min(page * pageSize, total)
  const number = (value: number) => value.toLocaleString('en')
  return (
    <nav aria-label={`Pages of ${noun}`} className="flex h-7 items-center gap-1 text-xs text-muted">
      <span data-numeric className="flex-1" aria-live="polite">
        {total === 0 ? `No ${noun}` : `${number(from)}–${number(to)} of ${number(total)} ${noun}`}
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
