import type { User } from '@roost/contracts/identity/users'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { runStatsQuery } from '../agents/queries.ts'
import { allowListQuery } from '../allow-list/queries.ts'
import { providersQuery } from '../settings/queries.ts'
import { StepRow } from './step-row.tsx'
import { isOfDemo, ownAgents, type Step, stepsOf } from './steps.ts'

type FirstStepsProps = {
  me: Pick<User, 'role'> & { demo?: true | undefined }
  /** Hides the steps for good. */
  onHide: () => void
}

/** The first steps of an installation with their state, until all are done. */
export function FirstSteps({ me, onHide }: FirstStepsProps) {
  const api = useApi()
  const isAdmin = me.role === 'admin'
  const stats = useQuery(runStatsQuery(api))
  const providers = useQuery({ ...providersQuery(api), enabled: isAdmin })
  const allowed = useQuery({ ...allowListQuery(api), enabled: isAdmin })
  const queries = isAdmin ? [stats, providers, allowed] : [stats]
  // One state for all: a step of unknown state would look open.
  const failed = queries.find(({ isError, data }) => isError && data === undefined)
  if (failed) {
    return (
      <ErrorState
        title="Could not load the first steps"
        error={failed.error}
        onRetry={() => void failed.refetch()}
        className="w-full max-w-none rounded-lg border border-line bg-surface"
      />
    )
  }
  if (!stats.data || queries.some(({ data }) => data === undefined))
    return <Skeleton className="h-32 w-full rounded-lg" />
  const agents = ownAgents(stats.data.agents)
  const first = agents.find((agent) => !isOfDemo(agent)) ?? agents[0]
  const steps = stepsOf({
    role: me.role,
    isDemo: me.demo,
    agents,
    keys: providers.data?.providers ?? [],
    allowedAddresses: allowed.data?.length ?? 0,
  })
  return <Steps steps={steps} agent={first?.name ?? null} onHide={onHide} />
}

type StepsProps = { steps: readonly Step[]; agent: string | null; onHide: () => void }

function Steps({ steps, agent, onHide }: StepsProps) {
  const done = steps.filter(({ isDone }) => isDone).length
  const isAllDone = steps.length > 0 && done === steps.length
  useEffect(() => {
    if (isAllDone) onHide()
  }, [isAllDone, onHide])
  if (isAllDone) return null
  if (steps.length === 0) {
    return (
      <p className="text-muted text-sm">
        No agent is shared with you yet. Ask an owner to share an agent with your e-mail address.
      </p>
    )
  }
  return (
    <Card aria-label="First steps">
      <CardHeader
        title="First steps"
        description={`${done} of ${steps.length} done.`}
        actions={
          <Button
            size="sm"
            variant="ghost"
            icon={<X aria-hidden />}
            onClick={onHide}
            aria-label="Hide first steps"
          >
            Hide
          </Button>
        }
      />
      <ol className="flex flex-col divide-y divide-line">
        {steps.map((step) => (
          <StepRow key={step.id} step={step} agent={agent} />
        ))}
      </ol>
    </Card>
  )
}
