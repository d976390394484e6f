import type { TemplateSchedule } from '@roost/contracts/agents/templates'
import { Badge } from '../../ui/badge.tsx'
import { cronWords } from '../schedules/cron.ts'

/** The schedules that the template creates. */
export function TemplateSchedules({ schedules }: { schedules: readonly TemplateSchedule[] }) {
  if (schedules.length === 0) return null
  return (
    <div>
      <h3 className="mb-1 font-medium text-sm">Schedules</h3>
      <ul aria-label="Schedules" className="divide-y divide-line border-y border-line text-sm">
        {schedules.map(({ name, cron, timezone, enabled, description, message }) => (
          <li key={name} className="py-2">
            <p className="flex flex-wrap items-center gap-x-2">
              <span className="font-medium">{name}</span>
              {!enabled && <Badge>initially disabled</Badge>}
              <span className="text-muted text-xs" title={`${cron} ${timezone}`}>
                {cronWords(cron) ?? cron}, {timezone}
              </span>
            </p>
            <p className="line-clamp-2 break-words text-muted text-xs" title={message}>
              {description ?? message}
            </p>
          </li>
        ))}
      </ul>
    </div>
  )
}
