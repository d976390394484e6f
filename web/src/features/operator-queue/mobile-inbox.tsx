import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { ItemMarks } from './item-marks.tsx'
import { ItemView } from './item-view.tsx'
import { queueQuery } from './queries.ts'
import { useTriage } from './use-triage.ts'

type MobileInboxProps = {
  /** The item shown in full; undefined: the list. */
  chosen: string | undefined
  onChoose: (item: string | undefined) => void
}

/** The pending items of this user, most urgent first, with a view to answer one. */
export function MobileInbox({ chosen, onChoose }: MobileInboxProps) {
  const queue = useQuery(queueQuery(useApi(), { status: 'pending', page: 1 }))
  const triage = useTriage()
  const page = queue.data?.items ?? []
  const items = page.filter(({ id }) => !triage.pending.has(id))
  const total = (queue.data?.total ?? 0) - (page.length - items.length)
  const others = total - items.length
  const shown = items.find(({ id }) => id === chosen)
  const leave = () => onChoose(undefined)
  if (shown) return <ItemView key={shown.id} item={shown} triage={triage} onLeave={leave} onBack={leave} />
  return (
    <section aria-labelledby="waiting" className="flex min-w-0 flex-col gap-2">
      <h2 id="waiting" className="font-semibold text-base">
        {total > 0 ? `${plural(total, 'pending item')}` : 'Inbox'}
      </h2>
      {queue.isError && !queue.data ? (
        <ErrorState
          title="Could not load the inbox"
          error={queue.error}
          onRetry={() => void queue.refetch()}
        />
      ) : queue.isPending ? (
        <SkeletonList rows={2} label="Loading inbox" />
      ) : items.length === 0 ? (
        <p className="text-muted text-sm">No pending items.</p>
      ) : (
        <ul aria-label="Items" className="divide-y divide-line rounded-lg border border-line bg-surface">
          {items.map((item) => (
            <Row key={item.id} item={item} onOpen={() => onChoose(item.id)} />
          ))}
        </ul>
      )}
      {others > 0 && items.length > 0 && (
        <p className="text-muted text-sm">
          {plural(others, 'more item')} in the{' '}
          <Link to="/inbox" className="text-accent underline">
            inbox
          </Link>
          .
        </p>
      )}
    </section>
  )
}

function Row({ item, onOpen }: { item: QueueItem; onOpen: () => void }) {
  return (
    <li>
      <button
        type="button"
        onClick={onOpen}
        className="flex w-full min-w-0 items-center gap-2 px-3 py-2.5 text-left hover:bg-hover"
      >
        <span className="flex min-w-0 flex-1 flex-col gap-1">
          <span className="truncate font-medium text-sm">{item.title}</span>
          <span className="flex flex-wrap items-center gap-1.5">
            <span className="text-muted text-xs">{item.agent_name}</span>
            <ItemMarks item={item} />
          </span>
        </span>
        <ChevronRight aria-hidden className="size-4 shrink-0 text-faint" />
      </button>
    </li>
  )
}
