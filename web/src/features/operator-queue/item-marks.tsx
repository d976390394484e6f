import type { QueueItem } from '@roost/contracts/operations/operator-queue'
import { Clock, Hourglass, Replace } from 'lucide-react'
import { formatRelativeTime } from '../../lib/format.ts'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import { pressureOf, priorityWords, statusWords, typeWords } from './words.ts'

/** The type, priority and urgency of an item. */
export function ItemMarks({ item }: { item: QueueItem }) {
  const type = typeWords[item.type]
  const now = Date.now()
  const pressure = pressureOf(item, now)
  return (
    <>
      {item.status === 'pending' ? (
        <span className="text-xs">
          <StatusDot {...priorityWords[item.priority]} />
        </span>
      ) : (
        <Badge tone={statusWords[item.status].tone}>{statusWords[item.status].label}</Badge>
      )}
      <Badge tone={type.tone}>{type.label}</Badge>
      {pressure === 'expiring' && item.expires_at !== null && (
        <Badge tone="danger" icon={<Hourglass aria-hidden />}>
          Expires {formatRelativeTime(Date.parse(item.expires_at), now)}
        </Badge>
      )}
      {pressure === 'aging' && (
        <Badge tone="warning" icon={<Clock aria-hidden />}>
          Older than 24 h
        </Badge>
      )}
      {item.diverged && (
        <Badge tone="warning" icon={<Replace aria-hidden />}>
          Changed
        </Badge>
      )}
    </>
  )
}
