import type { ExecutionDetails, ExecutionStatus as Status } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { cx } from '../../ui/class-names.ts'
import { ExecutionStatus } from './execution-status.tsx'
import { executionQuery, fanOutQuery, retriesQuery } from './queries.ts'
import { Part } from './run-facts-part.tsx'

/** Related runs: other attempts and the other tasks of the same fan-out. */
export function RunFamily({ run }: { run: ExecutionDetails }) {
  // The API lists related runs by agent, and the agent is deleted.
  if (run.agent_deleted) return null
  const mayHaveRetries = run.status === 'failed' || run.retry_of_execution_id !== null
  return (
    <>
      {mayHaveRetries && <Attempts run={run} />}
      {run.fan_out_id !== null && <Siblings run={run} fanOutId={run.fan_out_id} />}
      {run.validation_execution_id !== null && (
        <Part title="Validation">
          <Relative name={run.agent_name} id={run.validation_execution_id}>
            View validation run
          </Relative>
        </Part>
      )}
      {run.validates_execution_id !== null && (
        <Part title="Validates">
          <Relative name={run.agent_name} id={run.validates_execution_id}>
            View validated run
          </Relative>
        </Part>
      )}
    </>
  )
}

function Attempts({ run }: { run: ExecutionDetails }) {
  const api = useApi()
  const firstId = run.retry_of_execution_id ?? run.id
  const first = useQuery({
    ...executionQuery(api, run.agent_name, firstId),
    enabled: run.retry_of_execution_id !== null,
  })
  const retries = useQuery(retriesQuery(api, run.agent_name, firstId))
  const original = run.retry_of_execution_id === null ? run : first.data
  const all = [...(original ? [original] : []), ...(retries.data ?? [])]
  if (all.length < 2) return null
  return (
    <Part title="Attempts">
      <ol className="flex flex-col">
        {all.map((each) => (
          <Row
            key={each.id}
            name={run.agent_name}
            id={each.id}
            status={each.status}
            isThis={each.id === run.id}
          >
            Attempt {each.attempt_number}
          </Row>
        ))}
      </ol>
    </Part>
  )
}

const siblingsShown = 12

function Siblings({ run, fanOutId }: { run: ExecutionDetails; fanOutId: string }) {
  const { data } = useQuery(fanOutQuery(useApi(), run.agent_name, fanOutId))
  if (!data) return null
  const words = {
    completed: 'success',
    failed: 'failed',
    cancelled: 'cancelled',
    running: 'running',
    queued: 'queued',
  } as const
  return (
    <Part title={`Fan-out of ${data.total}`}>
      <ol className="flex flex-col">
        {data.results.slice(0, siblingsShown).map((each) => (
          <Row
            key={each.id}
            name={run.agent_name}
            id={each.execution_id}
            status={words[each.status]}
            isThis={each.execution_id === run.id}
          >
            {each.id}
          </Row>
        ))}
      </ol>
      {data.total > siblingsShown && (
        <p className="mt-1 text-muted text-xs">and {data.total - siblingsShown} more</p>
      )}
    </Part>
  )
}

type RowProps = { name: string; id: string; status: Status; isThis: boolean; children: ReactNode }

function Row({ name, id, status, isThis, children }: RowProps) {
  return (
    <li>
      <Link
        to="/agents/$name/executions/$id"
        params={{ name, id }}
        aria-current={isThis ? 'page' : undefined}
        className={cx(
          '-mx-2 flex h-7 items-center justify-between gap-2 rounded-sm px-2 text-sm hover:bg-hover',
          isThis && 'bg-hover font-medium',
        )}
      >
        <span className="truncate">{children}</span>
        <span className="text-xs">
          <ExecutionStatus status={status} />
        </span>
      </Link>
    </li>
  )
}

function Relative({ name, id, children }: { name: string; id: string; children: ReactNode }) {
  return (
    <Link
      to="/agents/$name/executions/$id"
      params={{ name, id }}
      className="text-accent text-sm hover:underline"
    >
      {children}
    </Link>
  )
}
