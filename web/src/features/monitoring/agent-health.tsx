import { checkAgentHealth, type HealthCheck } from '@roost/contracts/operations/monitoring'
import { useMutation, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { plural } from '../../lib/format.ts'
import { storeReply } from '../../live/store-reply.ts'
import { useApi, useApp } from '../../shell/app-context.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { cx } from '../../ui/class-names.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { meQuery } from '../users/queries.ts'
import { agentHealthQuery, healthChecksQuery } from './queries.ts'
import { changesOf, stripOf } from './strip.ts'
import { healthWords, uptimeWords } from './words.ts'

/** The health of an agent over the last day. */
export function AgentHealth({ name }: { name: string }) {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const health = useQuery(agentHealthQuery(api, name))
  const checks = useQuery(healthChecksQuery(api, name))
  const uptime = health.data?.uptime_percent_24h ?? null
  return (
    <Card aria-label="Health in the last 24 hours">
      <CardHeader
        title="Health"
        description={uptimeWords(uptime, checks.data?.at(-1)?.checked_at, checks.dataUpdatedAt)}
        actions={
          <>
            {health.data && <StatusDot {...healthWords[health.data.aggregate_status]} />}
            {me.role === 'admin' && <CheckNow name={name} />}
          </>
        }
      />
      {checks.isError && !checks.data ? (
        <ErrorState
          title="Could not load the health checks"
          error={checks.error}
          onRetry={() => void checks.refetch()}
        />
      ) : checks.data ? (
        <History checks={checks.data} issues={health.data?.issues ?? []} />
      ) : (
        <SkeletonText lines={3} />
      )}
    </Card>
  )
}

function CheckNow({ name }: { name: string }) {
  const { api, queries } = useApp()
  const check = useMutation({
    mutationFn: () => api.call(checkAgentHealth, { params: { name } }),
    onSuccess: async (found) => {
      await storeReply(queries, agentHealthQuery(api, name).queryKey, found)
      void queries.invalidateQueries({ queryKey: healthChecksQuery(api, name).queryKey })
    },
    onError: (error) => void toast({ title: error.message, tone: 'danger' }),
  })
  return (
    <Button size="sm" pending={check.isPending} onClick={() => check.mutate()}>
      Check now
    </Button>
  )
}

/** Maximum number of listed changes. */
const maxChanges = 4

function History({ checks, issues }: { checks: readonly HealthCheck[]; issues: readonly string[] }) {
  if (checks.length === 0) return <p className="py-4 text-muted text-sm">No health checks yet.</p>
  const changes = changesOf(checks).slice(0, maxChanges)
  return (
    <>
      {issues.length > 0 && (
        <ul className="mb-3 list-disc pl-5 text-sm">
          {issues.map((issue) => (
            <li key={issue}>{issue}</li>
          ))}
        </ul>
      )}
      <Strip checks={checks} />
      <ol aria-label="Health changes" className="mt-3 flex flex-col text-sm">
        {changes.map(({ checked_at, status, issues: [first] }) => (
          <li key={checked_at} className="flex min-w-0 items-baseline gap-3 py-1">
            <span className="w-24 shrink-0">
              <StatusDot {...healthWords[status]} />
            </span>
            <span className="min-w-0 flex-1 truncate text-muted" title={first}>
              {first}
            </span>
            <span className="shrink-0 text-faint text-xs">
              <RelativeTime at={checked_at} />
            </span>
          </li>
        ))}
      </ol>
    </>
  )
}

const barClass = {
  neutral: 'bg-line-strong',
  success: 'bg-success',
  warning: 'bg-warning',
  danger: 'bg-danger',
} as const

/** The day from left to right. Each bar shows its worst check. */
function Strip({ checks }: { checks: readonly HealthCheck[] }) {
  const bad = checks.filter(({ status }) => status !== 'healthy' && status !== 'unknown').length
  const summary = bad === 0 ? 'no problems' : `${plural(bad, 'problem')}`
  return (
    <div
      role="img"
      aria-label={`${plural(checks.length, 'check')} in the last 24 hours, ${summary}`}
      className="flex h-6 gap-px"
    >
      {stripOf(checks).map(({ at, worst }) => (
        <span
          key={at}
          title={`${new Date(at).toLocaleTimeString()} ${worst === null ? 'Not checked' : healthWords[worst].label}`}
          className={cx(
            'min-w-0 flex-1 rounded-xs',
            worst === null ? 'bg-sunken' : barClass[healthWords[worst].tone],
          )}
        />
      ))}
    </div>
  )
}
