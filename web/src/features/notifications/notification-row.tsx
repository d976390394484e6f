import type { Notification } from '@roost/contracts/operations/notifications'
import { Link } from '@tanstack/react-router'
import { Check, X } from 'lucide-react'
import { Suspense } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { priorityWords, typeWords } from './words.ts'

const Markdown = lazyPart(async () => (await import('../../ui/markdown.tsx')).Markdown)

type NotificationRowProps = {
  notification: Notification
  isReading: boolean
  onRead: () => void
  onDismiss: () => void
}

export function NotificationRow({ notification, isReading, onRead, onDismiss }: NotificationRowProps) {
  const { title, message, agent_name, notification_type, priority, category, status } = notification
  const type = typeWords[notification_type]
  const weight = priorityWords[priority]
  return (
    <li className="flex flex-col gap-2 px-4 py-3 sm:flex-row sm:items-start sm:gap-4">
      <div className="min-w-0 flex-1">
        <h3 className="break-words font-medium text-sm">{title}</h3>
        <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-xs">
          {(priority === 'urgent' || priority === 'high') && <Badge tone={weight.tone}>{weight.label}</Badge>}
          <Badge tone={type.tone}>{type.label}</Badge>
          {category && <Badge>{category}</Badge>}
          <Link
            to="/agents/$name"
            params={{ name: agent_name }}
            className="min-w-0 truncate hover:text-ink hover:underline"
          >
            {agent_name}
          </Link>
          <RelativeTime at={notification.created_at} />
        </p>
        {message && (
          <div className="mt-2 max-w-3xl text-sm">
            <Suspense fallback={<SkeletonText lines={2} />}>
              <Markdown text={message} />
            </Suspense>
          </div>
        )}
        {notification.acknowledged_at && (
          <p className="mt-2 text-muted text-xs">
            Read by {notification.acknowledged_by ?? 'somebody'}{' '}
            <RelativeTime at={notification.acknowledged_at} />
          </p>
        )}
      </div>
      <div className="flex shrink-0 gap-2">
        {status === 'pending' && (
          <Button
            size="sm"
            icon={<Check aria-hidden />}
            pending={isReading}
            onClick={onRead}
            aria-label={`Acknowledge “${title}”`}
          >
            Acknowledge
          </Button>
        )}
        {status !== 'dismissed' && (
          <Button
            size="sm"
            variant="ghost"
            icon={<X aria-hidden />}
            onClick={onDismiss}
            aria-label={`Dismiss “${title}”`}
          >
            Dismiss
          </Button>
        )}
      </div>
    </li>
  )
}
