import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Card } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { meQuery } from '../users/queries.ts'
import { backupsQuery } from './queries.ts'
import { Result } from './result.tsx'

/** Result and age of the last backup and its last verification, for admins. Nothing for others. */
export function BackupCard() {
  const { data: me } = useSuspenseQuery(meQuery(useApi()))
  return me.role === 'admin' ? <LastBackup /> : null
}

function LastBackup() {
  const { data, error, isError, refetch } = useQuery(backupsQuery(useApi()))
  if (isError && !data) {
    return (
      <ErrorState
        title="Could not load the backups"
        error={error}
        onRetry={() => void refetch()}
        className="w-full max-w-none rounded-lg border border-line bg-surface"
      />
    )
  }
  if (!data) return <Skeleton className="h-14 w-full" />
  const { last_backup, last_verification, running, enabled } = data
  return (
    <Card aria-label="Backups" className="flex flex-wrap items-center gap-x-6 gap-y-2 text-sm">
      <h2 className="font-semibold">Backups</h2>
      <dl className="flex min-w-0 flex-1 flex-wrap gap-x-6 gap-y-2">
        <Line label="Last backup">
          <Result result={last_backup} none="No backup yet" />
        </Line>
        {last_backup ? (
          <Line label="Last verification">
            <Result result={last_verification} none="Not verified yet" />
          </Line>
        ) : null}
        {running ? <Line label="Now">Running…</Line> : null}
      </dl>
      <Link to="/settings" search={{ tab: 'backups' }} className="text-accent text-xs hover:underline">
        {enabled ? 'Backup settings' : 'Set up backups'}
      </Link>
    </Card>
  )
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center gap-x-2">
      <dt className="text-muted">{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
