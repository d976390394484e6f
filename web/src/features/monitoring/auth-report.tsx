import type { AuthReport as Report } from '@roost/contracts/operations/fleet'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { authReportQuery } from './queries.ts'

/** How each agent authenticates with its model provider, for admins; agents without credentials first. */
export function AuthReport() {
  const report = useQuery(authReportQuery(useApi()))
  return (
    <Card aria-label="Model credentials">
      <CardHeader
        title="Model credentials"
        description="How each agent authenticates with its model provider. Runs of agents without credentials fail."
      />
      {report.isError && !report.data ? (
        <ErrorState
          title="Could not load the model credentials"
          error={report.error}
          onRetry={() => void report.refetch()}
        />
      ) : report.data ? (
        <Modes report={report.data} />
      ) : (
        <Skeleton className="h-24" />
      )}
    </Card>
  )
}

type Agents = Report['by_auth_mode']['subscription']

function Modes({ report: { by_auth_mode: modes, subscriptions } }: { report: Report }) {
  return (
    <div className="grid gap-x-10 gap-y-4 sm:grid-cols-3">
      <Mode title="No credentials" agents={modes.not_configured} isBad />
      <Mode title="Subscription" agents={modes.subscription}>
        {subscriptions.length > 0 && `From ${plural(subscriptions.length, 'subscription')}.`}
      </Mode>
      <Mode title="API key" agents={modes.api_key} />
    </div>
  )
}

type ModeProps = { title: string; agents: Agents; isBad?: boolean; children?: ReactNode }

function Mode({ title, agents, isBad = false, children }: ModeProps) {
  const isTrouble = isBad && agents.length > 0
  return (
    <div className="min-w-0">
      <h3 className="mb-1 font-medium text-muted text-xs">{title}</h3>
      <p data-numeric className={isTrouble ? 'font-semibold text-2xl text-danger' : 'font-semibold text-2xl'}>
        {agents.length}
      </p>
      {children && <p className="text-muted text-xs">{children}</p>}
      <ul aria-label={`Agents: ${title}`} className="mt-1 max-h-40 overflow-y-auto text-sm leading-6">
        {agents.map(({ name, subscription_name: by }) => (
          <li key={name} className="truncate">
            <Link
              to="/agents/$name"
              params={{ name }}
              search={{ tab: 'settings' }}
              className="hover:underline"
            >
              {name}
            </Link>
            {by && <span className="text-muted"> · {by}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}
