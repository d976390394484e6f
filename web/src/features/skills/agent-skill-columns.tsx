import type { AssignedSkill } from '@roost/contracts/skills/assignments'
import { TriangleAlert, X } from 'lucide-react'
import { plural } from '../../lib/format.ts'
import { Badge, StatusDot } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import type { DataColumn } from '../../ui/data-table.tsx'
import { Popover } from '../../ui/popover.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { deliveryStatusWords, warningWords } from './words.ts'

/** `remove` is null for users with read access only. */
export function agentSkillColumns(remove: ((skill: string) => void) | null): DataColumn<AssignedSkill>[] {
  const columns: (DataColumn<AssignedSkill> | false)[] = [
    {
      id: 'name',
      header: 'Skill',
      grow: true,
      width: 130,
      sortValue: (row) => row.skill_name.toLowerCase(),
      cell: (row) => (
        <span className="flex min-w-0 flex-col leading-4.5">
          <span className="truncate font-medium" title={row.skill_name}>
            {row.skill_name}
          </span>
          <span className="truncate font-normal text-muted text-xs">
            {row.stale ? 'no longer in any enabled source' : row.source}
          </span>
        </span>
      ),
    },
    {
      id: 'state',
      header: 'Delivery',
      width: 150,
      sortValue: (row) => row.delivery_status,
      cell: (row) => <DeliveryState row={row} />,
    },
    {
      id: 'version',
      header: 'Version',
      width: 90,
      priority: 2,
      cell: (row) => (row.version ? <code className="text-xs">{row.version}</code> : '–'),
    },
    {
      id: 'at',
      header: 'Delivered',
      width: 110,
      priority: 2,
      sortValue: (row) => (row.last_delivery ? Date.parse(row.last_delivery.at) : null),
      cell: (row) => <RelativeTime at={row.last_delivery?.at} />,
    },
    {
      id: 'by',
      header: 'Assigned',
      width: 150,
      priority: 3,
      sortValue: (row) => Date.parse(row.assigned_at),
      cell: (row) => (
        <span className="block truncate" title={row.assigned_by}>
          <RelativeTime at={row.assigned_at} /> <span className="text-muted">by {row.assigned_by}</span>
        </span>
      ),
    },
    remove !== null && {
      id: 'remove',
      header: 'Remove',
      hideHeader: true,
      width: 60,
      align: 'end',
      cell: (row) => (
        <IconButton
          size="sm"
          label={`Remove ${row.skill_name}`}
          icon={<X aria-hidden />}
          onClick={() => remove(row.skill_name)}
        />
      ),
    },
  ]
  return columns.filter((column) => column !== false)
}

function DeliveryState({ row }: { row: AssignedSkill }) {
  const warnings = row.last_delivery?.warnings ?? []
  return (
    <span className="flex min-w-0 items-center gap-1.5">
      {row.delivery_status === null ? (
        <StatusDot tone="neutral" label="Pending" />
      ) : (
        <span className="min-w-0" title={row.last_delivery?.error ?? undefined}>
          <StatusDot {...deliveryStatusWords[row.delivery_status]} />
        </span>
      )}
      {row.stale && <Badge tone="warning">stale</Badge>}
      {warnings.length > 0 && (
        <Popover
          label={`Warnings of ${row.skill_name}`}
          trigger={
            <IconButton
              size="sm"
              label={`${plural(warnings.length, 'warning')} of ${row.skill_name}`}
              icon={<TriangleAlert aria-hidden className="text-warning" />}
            />
          }
        >
          <ul className="flex flex-col gap-1 text-sm">
            {warnings.map((warning) => (
              <li key={warning} className="break-words">
                {warningWords(warning)}
              </li>
            ))}
          </ul>
        </Popover>
      )}
    </span>
  )
}
