import {
  itemPriorities,
  itemStatuses,
  itemTypes,
  type QueueItem,
  resolved,
} from '@roost/contracts/operations/operator-queue'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Inbox as InboxIcon } from 'lucide-react'
import { useMemo } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { cx } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Pager } from '../../ui/pager.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { ClearResolved } from './clear-resolved.tsx'
import { InboxFilters } from './inbox-filters.tsx'
import { InboxList } from './inbox-list.tsx'
import { ItemView } from './item-view.tsx'
import { KeyHints } from './key-hints.tsx'
import { afterIt } from './order.ts'
import { pageSize, type QueueFilter, queueQuery } from './queries.ts'
import type { InboxSearch } from './search.ts'
import { SelectionBar } from './selection-bar.tsx'
import { useInboxKeys } from './use-inbox-keys.ts'
import { useInboxSelection } from './use-inbox-selection.ts'
import { useTriage } from './use-triage.ts'

const route = getRouteApi('/signed-in/inbox')

/** The default status of the page. */
type UsualStatus = 'pending' | typeof resolved

/** Questions and alerts of agents and the platform, with the form to answer them. */
export function Inbox({ usual = 'pending' }: { usual?: UsualStatus }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const filter = filterOf(search, usual)
  const queue = useQuery(queueQuery(useApi(), filter))
  const triage = useTriage()
  const items = useMemo(
    () => (queue.data?.items ?? []).filter(({ id }) => !triage.pending.has(id)),
    [queue.data, triage.pending],
  )
  const change = (next: Partial<InboxSearch>, replace = true) =>
    void navigate({ search: (now) => ({ ...now, ...next }), replace, resetScroll: false })
  const chosen = items.find(({ id }) => id === search.item)
  // On wide screens the first item is shown until another one is chosen.
  const shown = chosen ?? items[0] ?? null
  const ids = items.map(({ id }) => id)
  const leave = (item: QueueItem) => change({ item: afterIt(ids, item.id) ?? undefined })

  const selection = useInboxSelection(ids)
  /** Excludes items that are about to be resolved. */
  const total = queue.data && queue.data.total - (queue.data.items.length - items.length)

  useInboxKeys({
    ids,
    shown,
    triage,
    onSelect: (id) => change({ item: id }),
    onToggle: selection.toggle,
    onLeave: leave,
  })
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <CardHeader
        title={usual === 'pending' ? 'Inbox' : 'Resolved'}
        description={
          filter.status === 'pending' ? waitingWords(total) : 'Questions and alerts with their outcomes.'
        }
        actions={
          filter.status === 'pending' ? (
            <KeyHints mayDismiss={triage.mayDismiss.any} />
          ) : (
            triage.mayDismiss.any && <ClearResolved agent={filter.agent} />
          )
        }
      />
      <InboxFilters
        filter={filter}
        usual={usual}
        onChange={(next) => change({ ...next, item: undefined, page: undefined })}
        className={cx(chosen && 'max-lg:hidden')}
      />
      {queue.isError && !queue.data ? (
        <ErrorState
          title="Could not load the inbox"
          error={queue.error}
          onRetry={() => void queue.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : queue.isPending ? (
        <SkeletonList rows={6} label="Loading inbox" />
      ) : items.length === 0 && total ? (
        <EmptyState
          title="All items on this page are resolved"
          action={
            <Button onClick={() => void triage.finish().then(() => change({ page: undefined }))}>
              Show the remaining {total.toLocaleString('en')}
            </Button>
          }
        />
      ) : items.length === 0 ? (
        <Nothing usual={usual} isFiltered={isFiltered(filter, usual)} onClear={() => change(noFilter)} />
      ) : (
        <div className="grid min-h-0 min-w-0 items-start gap-4 lg:grid-cols-[minmax(18rem,2fr)_minmax(0,3fr)]">
          <div className={cx('min-w-0', chosen && 'max-lg:hidden')}>
            <div className="rounded-lg border border-line bg-surface">
              <SelectionBar
                items={items}
                selection={selection}
                triage={triage}
                onLeave={() => change({ item: undefined })}
              />
              <InboxList
                items={items}
                shown={shown?.id ?? null}
                selection={selection}
                isChosen={chosen !== undefined}
              />
            </div>
            {queue.data.total > pageSize && (
              <div className="mt-2">
                <Pager
                  page={filter.page}
                  pageSize={pageSize}
                  total={queue.data.total}
                  onPageChange={(page) => change({ page, item: undefined }, false)}
                  noun="item"
                  before="Previous page"
                  after="Next page"
                />
              </div>
            )}
          </div>
          {shown && (
            <ItemView
              key={shown.id}
              item={shown}
              triage={triage}
              onLeave={() => leave(shown)}
              onBack={() => change({ item: undefined })}
              className={cx(!chosen && 'max-lg:hidden')}
            />
          )}
        </div>
      )}
    </div>
  )
}

const noFilter = {
  status: undefined,
  kind: undefined,
  priority: undefined,
  agent: undefined,
  item: undefined,
  page: undefined,
}

/** Validates the search parameters. */
function filterOf({ status, kind, priority, agent, page = 1 }: InboxSearch, usual: UsualStatus): QueueFilter {
  return {
    status: ([...itemStatuses, resolved, 'all'] as const).find((each) => each === status) ?? usual,
    type: itemTypes.find((each) => each === kind),
    priority: itemPriorities.find((each) => each === priority),
    agent,
    page,
  }
}

function isFiltered({ status, type, priority, agent }: QueueFilter, usual: UsualStatus): boolean {
  return status !== usual || Boolean(type || priority || agent)
}

function waitingWords(total: number | undefined): string {
  if (total === undefined || total === 0) return 'Questions of agents, and alerts of the platform.'
  return `${plural(total, 'pending item')}.`
}

type NothingProps = { usual: UsualStatus; isFiltered: boolean; onClear: () => void }

function Nothing({ usual, isFiltered, onClear }: NothingProps) {
  if (isFiltered) {
    const all = usual === 'pending' ? 'Show pending items' : 'Show all resolved items'
    return <EmptyState title="No matching items" action={<Button onClick={onClear}>{all}</Button>} />
  }
  if (usual === resolved) {
    return (
      <EmptyState
        icon={<InboxIcon aria-hidden />}
        title="No resolved items"
        description="Answered, dismissed and expired items are listed here until they are cleared."
      />
    )
  }
  return (
    <EmptyState
      icon={<InboxIcon aria-hidden />}
      title="Inbox is empty"
      description="Questions and approvals of agents, and alerts of the platform, appear here."
    />
  )
}
