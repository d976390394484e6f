import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Suspense, useCallback } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { PageHelp } from '../../shell/page-help.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useStoredState } from '../../ui/use-stored-state.ts'
import { runStatsQuery } from '../agents/queries.ts'
import { meQuery } from '../users/queries.ts'
import { utcDayOf } from './budgets.ts'
import { BudgetsPart } from './budgets-part.tsx'
import { FailuresPart } from './failures-part.tsx'
import { Figures } from './figures.tsx'
import { NightPart } from './night-part.tsx'
import { useMinute } from './use-minute.ts'
import { WaitingPart } from './waiting-part.tsx'

// Loaded on demand: the first steps are shown only once, the others to admins only.
const FirstSteps = lazyPart(async () => (await import('./first-steps.tsx')).FirstSteps)
const SchedulesPart = lazyPart(async () => (await import('./schedules-part.tsx')).SchedulesPart)
const BackupCard = lazyPart(async () => (await import('../backups/backup-card.tsx')).BackupCard)

/** What needs the user, what ran, what failed, and the cost. */
export function Home() {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const agents = useQuery(runStatsQuery(api))
  const isAdmin = me.role === 'admin'
  // Spares a new installation the request. A failure hides nothing.
  const hasSchedules = agents.data
    ? agents.data.agents.some(({ schedules_total }) => schedules_total > 0)
    : agents.isError
  const now = useMinute()
  const today = utcDayOf(now)
  const [areStepsHidden, setStepsHidden] = useStoredState(`first-steps-hidden:${me.id}`, false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the setter differs in every render
  const hideSteps = useCallback(() => setStepsHidden(true), [])
  return (
    <>
      <PageHeader title="Home" aside={<PageHelp guide="how-to/home" topic="Home" />} />
      <div className="flex min-w-0 flex-col gap-4">
        {!areStepsHidden && (
          <Suspense fallback={<PartSkeleton />}>
            <FirstSteps me={me} onHide={hideSteps} />
          </Suspense>
        )}
        <Figures today={today} />
        <div className="grid min-w-0 grid-flow-dense items-start gap-4 lg:grid-cols-2">
          <WaitingPart />
          <FailuresPart />
          <BudgetsPart today={today} />
          {isAdmin && hasSchedules && (
            <Suspense fallback={<PartSkeleton />}>
              <SchedulesPart now={now} />
            </Suspense>
          )}
        </div>
        <NightPart />
        {isAdmin && (
          <Suspense fallback={<PartSkeleton />}>
            <BackupCard />
          </Suspense>
        )}
      </div>
    </>
  )
}

function PartSkeleton() {
  return <Skeleton className="h-32 w-full rounded-lg" />
}
