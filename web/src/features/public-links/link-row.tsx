import type { PublicLink } from '@roost/contracts/conversations/public-links'
import { plural } from '../../lib/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Switch } from '../../ui/switch.tsx'
import { RelativeTime } from '../../ui/time.tsx'

type LinkRowProps = {
  link: PublicLink
  onSwitch: (enabled: boolean) => void
  onEdit: () => void
  onDelete: () => void
}

export function LinkRow({ link, onSwitch, onEdit, onDelete }: LinkRowProps) {
  const title = titleOf(link)
  const isOver = link.expires_at !== null && new Date(link.expires_at).getTime() <= Date.now()
  const { total_messages, unique_people, last_used_at } = link.usage
  return (
    <li className="flex flex-col gap-2 px-3 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="flex min-w-0 flex-1 flex-wrap items-center gap-x-1.5 gap-y-1 text-sm">
          <span className="max-w-full truncate font-medium" title={title}>
            {title}
          </span>
          {link.require_email && <Badge>requires e-mail</Badge>}
          {isOver && <Badge tone="warning">expired</Badge>}
        </p>
        <Switch label={`Enable ${title}`} checked={link.enabled} onCheckedChange={onSwitch} />
        <Button size="sm" variant="ghost" aria-label={`Edit ${title}`} onClick={onEdit}>
          Edit
        </Button>
        <Button size="sm" variant="ghost" aria-label={`Delete ${title}`} onClick={onDelete}>
          Delete
        </Button>
      </div>
      <div className="flex min-w-0 items-center gap-1 rounded-md border border-line bg-sunken p-1">
        <code className="min-w-0 flex-1 truncate px-1.5 text-xs">{link.url}</code>
        <CopyButton text={link.url} label={`Copy link ${title}`} />
      </div>
      <p className="text-muted text-xs tabular-nums">
        {total_messages === 0
          ? 'Never used'
          : `${plural(total_messages, 'message')} of ${plural(unique_people, 'person', 'people')}`}
        {last_used_at && (
          <>
            , last <RelativeTime at={last_used_at} />
          </>
        )}
        {link.daily_message_limit !== null &&
          ` · at most ${plural(link.daily_message_limit, 'message')} per day`}
        {link.expires_at && (
          <>
            {isOver ? ' · expired ' : ' · expires '}
            <RelativeTime at={link.expires_at} />
          </>
        )}
      </p>
    </li>
  )
}

export function titleOf({ name, created_at }: PublicLink): string {
  return name ?? `Link of ${created_at.slice(0, 10)}`
}
