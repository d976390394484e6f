import { acknowledgeAlert, type FleetAlert } from '@roost/contracts/operations/alerts'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Check } from 'lucide-react'
import { describeFault } from '../../lib/fault.ts'
import { useApi, useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { LongList } from '../../ui/long-list.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { priorityWords } from '../operator-queue/words.ts'
import { alertsQuery, monitoringKey } from './queries.ts'

/** Pending alerts of the platform, for admins. */
export function Alerts() {
  const alerts = useQuery(alertsQuery(useApi()))
  return (
    <Card aria-label="Alerts">
      <CardHeader title="Alerts" description="Alerts resolve automatically when their cause is fixed." />
      {alerts.isError && !alerts.data ? (
        <ErrorState
          title="Could not load the alerts"
          error={alerts.error}
          onRetry={() => void alerts.refetch()}
        />
      ) : !alerts.data ? (
        <Skeleton className="h-16" />
      ) : alerts.data.alerts.length === 0 ? (
        <p className="text-muted text-sm">No pending alerts.</p>
      ) : (
        <ScrollRegion label="Pending alerts" className="-my-1 max-h-96 overflow-y-auto">
          <LongList items={alerts.data.alerts} label="List of alerts" className="divide-y divide-line">
            {(alert) => <AlertRow key={alert.id} alert={alert} />}
          </LongList>
        </ScrollRegion>
      )}
    </Card>
  )
}

function AlertRow({ alert }: { alert: FleetAlert }) {
  const { id, severity, agent_name, title, message } = alert
  const acknowledge = useAcknowledge()
  return (
    <li className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 py-2.5">
      <div className="min-w-0 flex-1 basis-64">
        <p className="break-words font-medium text-sm">{title}</p>
        <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-muted text-xs">
          <Badge tone={priorityWords[severity].tone}>{priorityWords[severity].label}</Badge>
          {agent_name && (
            <Link to="/agents/$name" params={{ name: agent_name }} className="hover:text-ink hover:underline">
              {agent_name}
            </Link>
          )}
          <RelativeTime at={alert.created_at} />
        </p>
        {message && <p className="mt-1 break-words text-muted text-sm">{message}</p>}
      </div>
      <Button
        size="sm"
        icon={<Check aria-hidden />}
        pending={acknowledge.isPending}
        onClick={() => acknowledge.mutate(id)}
        aria-label={`Acknowledge “${title}”`}
      >
        Acknowledge
      </Button>
    </li>
  )
}

function useAcknowledge() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: (id: string) => api.call(acknowledgeAlert, { params: { id } }),
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: monitoringKey }),
        queries.invalidateQueries({ queryKey: ['operator-queue'] }),
      ]),
  })
}
