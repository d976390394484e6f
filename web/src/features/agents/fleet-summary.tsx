import type { HostTelemetry } from '@roost/contracts/operations/telemetry'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatPercent } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { cx } from '../../ui/class-names.ts'
import { Cost } from '../../ui/cost.tsx'
import { hostQuery } from '../telemetry/queries.ts'
import type { FleetRow } from './fleet-rows.ts'

/** Totals of the fleet: running agents, active and queued runs, the day's runs and, for admins, the host's load. */
export function FleetSummary({ rows, showsHost }: { rows: readonly FleetRow[]; showsHost: boolean }) {
  const sum = (of: (row: FleetRow) => number) => rows.reduce((total, row) => total + of(row), 0)
  const up = rows.filter((row) => row.status === 'running').length
  const [runs, failed] = [sum((row) => row.runs), sum((row) => row.failed)]
  return (
    <dl
      className={cx(
        'grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4',
        showsHost && 'xl:grid-cols-7',
      )}
    >
      <Figure label="Running">
        {up}
        <Rest>of {rows.length}</Rest>
      </Figure>
      <Figure label="Active runs">
        {sum((row) => row.running)}
        <Rest>{sum((row) => row.queued)} queued</Rest>
      </Figure>
      <Figure label="Runs, 24 h">
        {runs}
        <Rest>{failed} failed</Rest>
      </Figure>
      <Figure label="Cost, 24 h">
        <Cost usd={sum((row) => row.cost)} isEstimated={rows.some((row) => row.isCostEstimated)} />
      </Figure>
      {showsHost && <HostFigures />}
    </dl>
  )
}

function HostFigures() {
  const { data: host } = useQuery(hostQuery(useApi()))
  return (
    <>
      <Figure label="Host CPU">
        {host ? formatPercent(host.cpu.percent / 100) : '–'}
        {host ? <Rest>{host.cpu.count} cores</Rest> : null}
      </Figure>
      <Filled label="Host memory" of={host?.memory} />
      <Filled label="Host disk" of={host?.disk} />
    </>
  )
}

/** Usage of a host resource; undefined until measured. */
function Filled({ label, of }: { label: string; of: HostTelemetry['memory'] | undefined }) {
  return (
    <Figure label={label}>
      {of ? formatPercent(of.percent / 100) : '–'}
      {of ? <Rest>of {Math.round(of.total_gb)} GB</Rest> : null}
    </Figure>
  )
}

function Figure({ label, children }: { label: string; children: ReactNode }) {
  return (
    // With seven figures, the last one fills its row below the widest screens.
    <div className="bg-surface px-4 py-2.5 nth-[7]:col-span-2 xl:nth-[7]:col-span-1">
      <dt className="text-muted text-xs">{label}</dt>
      <dd className="mt-0.5 flex items-baseline gap-1.5 font-semibold text-lg tabular-nums">{children}</dd>
    </div>
  )
}

function Rest({ children }: { children: ReactNode }) {
  return <span className="font-normal text-muted text-xs">{children}</span>
}
