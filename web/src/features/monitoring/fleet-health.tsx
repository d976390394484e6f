import { healthStatuses, type MonitoringStatus } from '@roost/contracts/operations/monitoring'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { StatCard } from '../../ui/stat-card.tsx'
import { PauseAll } from '../schedules/pause-all.tsx'
import { meQuery } from '../users/queries.ts'
import { Alerts } from './alerts.tsx'
import { AuthReport } from './auth-report.tsx'
import { Costs } from './costs.tsx'
import { EmergencyOutcome, EmergencyStop, useEmergencyStop } from './emergency-stop.tsx'
import { FleetActionOutcome, FleetActions, useFleetAction } from './fleet-actions.tsx'
import { HealthTable } from './health-table.tsx'
import { healthQuery } from './queries.ts'
import { Replicas } from './replicas.tsx'
import { healthWords } from './words.ts'

/** The health of all agents, alerts, costs and the emergency stop. */
export function FleetHealth() {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const health = useQuery(healthQuery(api))
  const isAdmin = me.role === 'admin'
  const stop = useEmergencyStop()
  const actions = useFleetAction()
  return (
    <section aria-label="Fleet health" className="flex min-w-0 flex-col gap-4">
      <CardHeader
        title="Fleet health"
        description="The container, heartbeat and runs of the agents you have access to."
        actions={
          isAdmin && (
            <>
              <FleetActions actions={actions} />
              <PauseAll of=" schedules" />
              <EmergencyStop stop={stop} />
            </>
          )
        }
        className="mb-0"
      />
      {actions.data && <FleetActionOutcome outcome={actions.data} />}
      {stop.data && <EmergencyOutcome outcome={stop.data} />}
      {health.data && !health.data.enabled && (
        <Banner tone="warning" title="Monitoring is off">
          Roost runs no health checks and raises no alerts.
        </Banner>
      )}
      {health.isError && !health.data ? (
        <ErrorState
          title="Could not load the health of the agents"
          error={health.error}
          onRetry={() => void health.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <>
          <Figures summary={health.data?.summary} />
          {isAdmin && <Alerts />}
          {isAdmin && <Costs />}
          {isAdmin && <AuthReport />}
          {isAdmin && <Replicas />}
          <HealthTable rows={health.data?.agents ?? []} isLoading={health.isPending} />
        </>
      )}
    </section>
  )
}

const tones = { critical: 'danger', unhealthy: 'danger', degraded: 'warning' } as const

function Figures({ summary }: { summary: MonitoringStatus['summary'] | undefined }) {
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5">
      {healthStatuses.map((status) => {
        const count = summary?.[status]
        const tone = count && status in tones ? tones[status as keyof typeof tones] : 'neutral'
        return <StatCard key={status} label={healthWords[status].label} value={count ?? '–'} tone={tone} />
      })}
    </div>
  )
}
