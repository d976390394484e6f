import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { Checkbox } from '../../ui/checkbox.tsx'
import { cx } from '../../ui/class-names.ts'
import { RelativeTime } from '../../ui/time.tsx'
import { ItemMarks } from './item-marks.tsx'
import type { InboxSelection } from './use-inbox-selection.ts'

type InboxListProps = {
  items: readonly QueueItem[]
  shown: string | null
  selection: InboxSelection
  /** The item was chosen explicitly; otherwise the first one is shown. */
  isChosen: boolean
}

export function InboxList({ items, shown, selection, isChosen }: InboxListProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (shown === null || !isChosen) return
    list.current?.querySelector('[aria-current=true]')?.scrollIntoView({ block: 'nearest' })
  }, [shown, isChosen])
  return (
    <ul
      ref={list}
      aria-label="Items"
      className="min-w-0 overflow-y-auto lg:max-h-[max(20rem,calc(100dvh-18rem))]"
    >
      {items.map((item) => (
        <li
          key={item.id}
          className={cx(
            'flex border-b last:border-b-0 hover:bg-hover',
            item.id === shown ? 'lg:bg-accent-soft' : selection.ids.has(item.id) && 'bg-hover',
          )}
        >
          {item.status === 'pending' && (
            <span className="flex pt-3 pr-1 pl-3">
              <Checkbox
                label={`Select “${item.title}”`}
                checked={selection.ids.has(item.id)}
                onClick={(event) => {
                  event.preventDefault()
                  selection.toggle(item.id, event.shiftKey)
                }}
              />
            </span>
          )}
          <Link
            to="."
            search={(now) => ({ ...now, item: item.id })}
            replace
            resetScroll={false}
            preload={false}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={item.id === shown ? 'true' : undefined}
            className={cx(
              'block min-w-0 flex-1 py-2.5 pr-3 -outline-offset-2',
              item.status === 'pending' ? 'pl-1.5' : 'pl-3',
            )}
          >
            <span className="flex items-baseline justify-between gap-3">
              <span className="min-w-0 truncate font-medium text-sm">{item.title}</span>
              <RelativeTime at={item.created_at} className="shrink-0 text-muted text-xs" />
            </span>
            <span className="mt-1 flex flex-wrap items-center gap-1.5">
              <ItemMarks item={item} />
              <span className="min-w-0 truncate text-muted text-xs">{item.agent_name ?? 'Platform'}</span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  )
}
