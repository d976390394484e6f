import type { FleetSchedules } from '@roost/contracts/triggers/schedule-admin'
import type { DataColumn } from '../../ui/data-table.tsx'
import { Switch } from '../../ui/switch.tsx'
import { cronWords } from './cron.ts'
import { LastOutcome, NextTime } from './schedule-columns.tsx'
import { zoneWords } from './time-words.ts'

export type FleetRow = FleetSchedules['schedules'][number]

/** Columns of the schedules of all agents. */
export function fleetScheduleColumns(
  toggle: (change: { row: FleetRow; enabled: boolean }) => void,
): readonly DataColumn<FleetRow>[] {
  return [
    {
      id: 'name',
      header: 'Schedule',
      grow: true,
      width: 170,
      sortValue: (row) => row.name.toLowerCase(),
      cell: (row) => (
        <span className="flex min-w-0 flex-col">
          <span className="truncate font-medium">{row.name}</span>
          <span className="truncate font-normal text-muted text-xs">
            {cronWords(row.cron_expression) ?? row.cron_expression} · {zoneWords(row.timezone)}
          </span>
        </span>
      ),
    },
    {
      id: 'agent',
      header: 'Agent',
      width: 150,
      priority: 2,
      sortValue: (row) => row.agent_name,
      cell: (row) => row.agent_name,
    },
    {
      id: 'next',
      header: 'Next run',
      width: 110,
      sortValue: (row) => (row.enabled ? row.next_run_at : null),
      cell: (row) => <NextTime row={row} />,
    },
    {
      id: 'last',
      header: 'Last run',
      width: 180,
      priority: 2,
      sortValue: (row) => row.last_run_at,
      cell: (row) => <LastOutcome row={row} />,
    },
    {
      id: 'enabled',
      header: 'Enabled',
      width: 84,
      cell: (row) => (
        <Switch
          label={`Enable ${row.name} of ${row.agent_name}`}
          checked={row.enabled}
          onCheckedChange={(enabled) => toggle({ row, enabled })}
        />
      ),
    },
  ]
}
