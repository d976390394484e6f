import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useFleetActions } from './fleet-actions.ts'
import { deletedSchedulesQuery } from './fleet-queries.ts'

/** Deleted schedules that can be restored; renders nothing without any. */
export function DeletedSchedules() {
  const deleted = useQuery(deletedSchedulesQuery(useApi()))
  const { recover } = useFleetActions()
  if (!deleted.data || deleted.data.length === 0) return null
  return (
    <Card>
      <CardHeader
        title="Deleted schedules"
        description="You can restore deleted schedules. They come back disabled and without their webhook."
      />
      <ul aria-label="Deleted schedules" className="flex flex-col">
        {deleted.data.map((row) => (
          <li key={row.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t py-2 text-sm">
            <span className="min-w-0 flex-1 basis-40 break-words">
              {row.name} <span className="text-muted">of {row.agent_name}</span>
            </span>
            <span className="text-muted text-xs">
              deleted <RelativeTime at={row.deleted_at} />, removed permanently{' '}
              <RelativeTime at={row.purge_at} />
            </span>
            <Button
              size="sm"
              pending={recover.isPending && recover.variables === row.id}
              onClick={() => recover.mutate(row.id)}
            >
              Restore<span className="sr-only"> {row.name}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  )
}
