import type { RunQuery } from '@roost/contracts/runs/run-query'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatClock, formatDate, plural } from '../../../lib/format.ts'
import { useApi } from '../../../shell/app-context.ts'
import { cx } from '../../../ui/class-names.ts'
import { type RunFilter, runErrorsQuery } from '../queries.ts'

const maxGroups = 8

/** The failed runs of the list by error code; each leads to its runs. Renders nothing without failures. */
export function ErrorGroups({ query, filter }: { query: RunQuery; filter: RunFilter }) {
  const errors = useQuery(runErrorsQuery(useApi(), filter))
  const groups = errors.data?.groups ?? []
  if (groups.length === 0) return null
  const { status, error, ...others } = query
  const more = groups.slice(maxGroups).reduce((sum, { count }) => sum + count, 0)
  return (
    <section aria-label="Errors" className="flex min-w-0 flex-wrap items-center gap-2">
      <h2 className="font-medium text-muted text-sm">Errors</h2>
      <ul className="flex min-w-0 flex-wrap gap-2">
        {groups.slice(0, maxGroups).map(({ error_code, count, agent_count, first_at }) => {
          const code = error_code ?? ''
          const isShown = status === 'failed' && error === code
          return (
            <li key={code} className="min-w-0">
              <Link
                to="/runs"
                search={isShown ? others : { ...others, status: 'failed', error: code }}
                replace
                resetScroll={false}
                aria-current={isShown || undefined}
                title={`${plural(count, 'failed run')} of ${plural(agent_count, 'agent')}`}
                className={cx(
                  'inline-flex max-w-full items-center rounded-md border px-2 py-1 text-sm hover:bg-hover',
                  isShown ? 'border-focus bg-hover font-medium' : 'border-line',
                )}
              >
                <span className="truncate">
                  <span className="tabular-nums">{count.toLocaleString('en')}</span> ×{' '}
                  <span className="text-danger">{error_code ?? 'no error code'}</span> since{' '}
                  {sinceText(first_at)}
                </span>
              </Link>
            </li>
          )
        })}
      </ul>
      {more > 0 && <span className="text-muted text-xs">{plural(more, 'failed run')} with other codes.</span>}
    </section>
  )
}

/** The time for today, otherwise the date. */
function sinceText(at: string): string {
  const ms = Date.parse(at)
  const isToday = new Date(ms).toDateString() === new Date().toDateString()
  return isToday ? formatClock(ms) : formatDate(ms, Date.now())
}
