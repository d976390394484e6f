import type { ExecutionDetails } from '@roost/contracts/runs/executions'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Hourglass } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { agentQuery } from '../agents/queries.ts'
import { queueQuery, slotsOfAgentQuery } from './queries.ts'
import { waitReason } from './wait-reason.ts'

/** The queue position of a run, why it waits, and which runs use the slots. */
export function RunWaiting({ run }: { run: ExecutionDetails }) {
  const api = useApi()
  const name = run.agent_name
  const queue = useQuery(queueQuery(api, name))
  const capacity = useQuery(slotsOfAgentQuery(api, name))
  const agent = useQuery(agentQuery(api, name))
  const position =
    queue.data?.queued_executions.find(({ execution_id }) => execution_id === run.id)?.position ?? null
  const reason = waitReason({
    agentStatus: agent.data?.status ?? null,
    capacity: capacity.data ?? null,
    breaker: agent.data?.circuit_breaker.open ? 'open' : 'closed',
    position,
  })
  return (
    <Banner
      tone="info"
      icon={<Hourglass aria-hidden />}
      title={position === null ? 'Queued' : `Queued at position ${position} of ${queue.data?.queue_length}`}
    >
      <p>
        {queue.isPending ? 'Waiting for a free slot.' : reason} Queued{' '}
        <RelativeTime at={run.queued_at ?? run.created_at} />.
      </p>
      {(capacity.data?.slots.length ?? 0) > 0 && <p className="mt-1.5 font-medium text-ink">Running</p>}
      {(capacity.data?.slots.length ?? 0) > 0 && (
        <ul aria-label="Running runs" className="flex flex-col gap-0.5">
          {capacity.data?.slots.slice(0, 5).map((slot) => (
            <li key={slot.execution_id} className="min-w-0 truncate">
              <Link
                to="/agents/$name/executions/$id"
                params={{ name, id: slot.execution_id }}
                className="text-ink underline decoration-line-strong underline-offset-2 hover:decoration-current"
              >
                {slot.message_preview || 'Private conversation'}
              </Link>{' '}
              <RelativeTime at={slot.started_at} />
            </li>
          ))}
        </ul>
      )}
    </Banner>
  )
}
