import type { TemplateEntry } from '@roost/contracts/agents/templates'
import { Link } from '@tanstack/react-router'
import { CalendarClock, GitBranch, KeyRound, Package } from 'lucide-react'
import { plural } from '../../lib/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'

/** `onUse` is null for users who cannot create agents. */
export function TemplateCard({ entry, onUse }: { entry: TemplateEntry; onUse: (() => void) | null }) {
  const { id, display_name, description, github_repo, runtime, resources, required_credentials } = entry
  return (
    <article className="relative flex h-full min-w-0 flex-col rounded-lg border border-line bg-surface p-4 transition-colors duration-100 hover:border-line-strong">
      <h3 className="min-w-0 font-semibold text-base">
        {/* The whole card links to the details, except for its button. */}
        <Link
          to="/library"
          search={(now) => ({ ...now, tab: 'templates', template: id })}
          className="break-words after:absolute after:inset-0 after:rounded-lg focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus"
        >
          {display_name}
        </Link>
      </h3>
      <p className="mt-0.5 flex min-w-0 items-center gap-1.5 text-muted text-xs [&_svg]:size-3.5 [&_svg]:shrink-0">
        {github_repo ? <GitBranch aria-hidden /> : <Package aria-hidden />}
        <span className="truncate">{github_repo ?? 'built in'}</span>
      </p>
      <p className="mt-2 line-clamp-3 flex-1 break-words text-sm">{description}</p>
      <div className="mt-3 flex min-w-0 items-end justify-between gap-2">
        <div className="flex min-w-0 flex-wrap gap-1.5">
          <Badge>{runtime}</Badge>
          {resources.cpu && <Badge>{plural(Number(resources.cpu), 'core')}</Badge>}
          {entry.schedules_count > 0 && (
            <Badge icon={<CalendarClock aria-hidden />}>{plural(entry.schedules_count, 'schedule')}</Badge>
          )}
          {required_credentials.length > 0 && (
            <Badge icon={<KeyRound aria-hidden />}>{plural(required_credentials.length, 'credential')}</Badge>
          )}
          {entry.warnings_count > 0 && (
            <Badge tone="warning">{plural(entry.warnings_count, 'warning')}</Badge>
          )}
          {entry.metadata_unavailable && <Badge tone="warning">could not be loaded</Badge>}
        </div>
        {onUse && (
          <Button size="sm" className="relative" aria-label={`Use ${display_name}`} onClick={onUse}>
            Use
          </Button>
        )}
      </div>
    </article>
  )
}
