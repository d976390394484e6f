import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { executionQuery } from './queries.ts'
import { isRepeatable } from './run-acts.ts'
import { TaskForm } from './task-form.tsx'

export type RetryFormProps = {
  agent: AgentDetails
  /** The ID of the run. */
  from: string
  isBlocked: boolean
  onClear: () => void
}

/** The form of a task, filled in with the request of an earlier run. Sends nothing by itself. */
export function RetryForm({ agent, from, isBlocked, onClear }: RetryFormProps) {
  const run = useQuery(executionQuery(useApi(), agent.name, from))
  if (run.isPending) return <Skeleton className="h-44 w-full rounded-lg" />
  if (!run.data) {
    return (
      <ErrorState
        title="Could not load the run to retry"
        error={run.error}
        onRetry={() => void run.refetch()}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  const { data } = run
  return (
    <>
      <Banner
        action={
          <Button size="sm" onClick={onClear}>
            Clear form
          </Button>
        }
      >
        <p>
          {isRepeatable(data)
            ? 'Filled in from '
            : 'This conversation is private, so nothing was filled in: '}
          <Link
            to="/agents/$name/executions/$id"
            params={{ name: agent.name, id: from }}
            className="underline"
          >
            run <span className="font-mono text-xs [overflow-wrap:anywhere]">{from}</span>
          </Link>
          . {missingFiles(data)}
        </p>
      </Banner>
      <TaskForm
        agent={agent}
        isBlocked={isBlocked}
        {...(isRepeatable(data) ? { initial: initialOf(data) } : {})}
      />
    </>
  )
}

function initialOf(run: ExecutionDetails) {
  const { id: runId, message, model, allowed_tools: tools, timeout_seconds, system_prompt } = run
  const options = { model, tools, timeoutSeconds: timeout_seconds, systemPrompt: system_prompt }
  return { runId, message: message ?? '', options }
}

function missingFiles({ attachment_count: count }: ExecutionDetails): string | null {
  if (count === 0) return null
  return `Its ${plural(count, 'file')} cannot be sent again. Attach ${count === 1 ? 'it' : 'them'} again.`
}
