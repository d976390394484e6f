import { itemTypes, type QueueItem } from '@roost/contracts/operations/operator-queue'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { ItemMarks } from '../operator-queue/item-marks.tsx'
import { queueQuery } from '../operator-queue/queries.ts'
import { queueStatsQuery } from '../operator-queue/stats-query.ts'
import { typeWords } from '../operator-queue/words.ts'
import { moreClass, Part, Quiet, rowClass, wordLinkClass } from './part.tsx'

const maxItems = 5

/** The most urgent questions and alerts. */
export function WaitingPart() {
  const api = useApi()
  const stats = useQuery(queueStatsQuery(api))
  const queue = useQuery({
    ...queueQuery(api, { status: 'pending', page: 1 }),
    enabled: (stats.data?.pending ?? 0) > 0,
  })
  return (
    <Part query={stats} failure="Could not load the inbox">
      {({ pending, by_type }) =>
        pending === 0 ? (
          <Quiet>No open questions or alerts.</Quiet>
        ) : (
          <Card aria-label="Open items">
            <CardHeader
              title="Open items"
              description={<Kinds counts={by_type} />}
              actions={
                <Link to="/inbox" className={moreClass}>
                  Open inbox
                </Link>
              }
            />
            <Part query={queue} failure="Could not load the items">
              {({ items }) => (
                <ul aria-label="Most urgent items" className="-mx-2 flex flex-col">
                  {items.slice(0, maxItems).map((item) => (
                    <li key={item.id}>
                      <Item item={item} />
                    </li>
                  ))}
                </ul>
              )}
            </Part>
          </Card>
        )
      }
    </Part>
  )
}

function Kinds({ counts }: { counts: Readonly<Record<string, number>> }) {
  return (
    <span className="flex flex-wrap gap-x-3">
      {itemTypes.map((kind) => {
        const count = counts[kind] ?? 0
        return (
          count > 0 && (
            <Link key={kind} to="/inbox" search={{ kind }} className={wordLinkClass}>
              {plural(count, typeWords[kind].label.toLowerCase())}
            </Link>
          )
        )
      })}
    </span>
  )
}

function Item({ item }: { item: QueueItem }) {
  return (
    <Link to="/inbox" search={{ item: item.id }} className={rowClass}>
      <span className="flex items-baseline justify-between gap-3">
        <span className="min-w-0 truncate font-medium">{item.title}</span>
        <RelativeTime at={item.created_at} className="shrink-0 text-muted text-xs" />
      </span>
      <span className="mt-1 flex flex-wrap items-center gap-1.5">
        <ItemMarks item={item} />
        <span className="min-w-0 truncate text-muted text-xs">{item.agent_name ?? 'Platform'}</span>
      </span>
    </Link>
  )
}
