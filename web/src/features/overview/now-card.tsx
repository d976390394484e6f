import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { AgentActivity, ToolActivity } from '@roost/contracts/agents/health'
import { useQuery } from '@tanstack/react-query'
import { formatDuration, plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Meter } from '../../ui/progress.tsx'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { Duration, RelativeTime, RunningDuration } from '../../ui/time.tsx'
import { slotsOfAgentQuery } from '../executions/queries.ts'
import { activityQuery } from './queries.ts'

const maxTools = 5

/** The current activity, the slots and the heartbeat of the agent. */
export function NowCard({ agent }: { agent: AgentDetails }) {
  const activity = useQuery(activityQuery(useApi(), agent.name))
  return (
    <Card aria-label="Current activity" className="flex flex-col">
      <CardHeader title="Current activity" actions={<Heartbeat agent={agent} />} />
      <Slots name={agent.name} />
      {activity.isError && !activity.data ? (
        <ErrorState
          title="Could not load the activity"
          error={activity.error}
          onRetry={() => void activity.refetch()}
        />
      ) : activity.data ? (
        <Activity activity={activity.data} />
      ) : (
        <SkeletonText lines={3} />
      )}
    </Card>
  )
}

/** Heartbeat only; health has its own card. */
const heartbeatWords = {
  alive: { tone: 'success', label: 'Alive' },
  stale: { tone: 'warning', label: 'Stale' },
  unsupported: { tone: 'neutral', label: 'No heartbeat yet' },
} as const

function Heartbeat({ agent }: { agent: AgentDetails }) {
  const { status, heartbeat_state: state, last_heartbeat_age_seconds: age } = agent
  if (status !== 'running')
    return <StatusDot tone="neutral" label={status === 'exited' ? 'Exited' : 'Stopped'} />
  const lastHeartbeat = age === null ? '' : `, last heartbeat ${formatDuration(age * 1000)} ago`
  return (
    <span className="text-xs" title={`Heartbeat ${state}${lastHeartbeat}`}>
      <StatusDot {...heartbeatWords[state]} />
    </span>
  )
}

function Slots({ name }: { name: string }) {
  const { data } = useQuery(slotsOfAgentQuery(useApi(), name))
  if (!data) return null
  const { active_slots: active, effective_max_parallel_tasks: max, queued } = data
  return (
    <div className="mb-3">
      <Meter
        label={queued > 0 ? `Slots in use, ${plural(queued, 'run')} queued` : 'Slots in use'}
        value={active}
        max={max}
        text={`${active} of ${max}`}
        warnAt={1}
        dangerAt={2}
      />
    </div>
  )
}

function Activity({ activity }: { activity: AgentActivity }) {
  const { active_tool: tool, timeline, status } = activity
  const past = timeline.filter((call) => call.status === 'completed').slice(0, maxTools)
  if (!tool && past.length === 0) {
    return (
      <p className="py-4 text-muted text-sm">
        {status === 'running' ? 'The agent is thinking. No tool calls yet.' : 'No tool calls yet.'}
      </p>
    )
  }
  return (
    <>
      {tool && (
        <div className="mb-2 flex min-w-0 items-baseline gap-3 rounded-md bg-accent-soft px-2.5 py-2 text-sm">
          <span className="shrink-0 font-medium">{tool.name}</span>
          <span className="min-w-0 flex-1 truncate font-mono text-muted text-xs">{tool.input_summary}</span>
          <RunningDuration since={tool.started_at} className="text-xs" />
        </div>
      )}
      {past.length > 0 && (
        <ol aria-label="Latest tool calls" className="flex flex-col">
          {past.map((call) => (
            <Call key={call.id} call={call} />
          ))}
        </ol>
      )}
    </>
  )
}

function Call({ call }: { call: ToolActivity }) {
  return (
    <li className="flex min-w-0 items-center gap-3 py-1 text-sm">
      <span className="w-20 shrink-0 truncate">
        <StatusDot tone={call.success === false ? 'danger' : 'success'} label={call.tool} />
        {call.success === false && <span className="sr-only">failed</span>}
      </span>
      <span className="min-w-0 flex-1 truncate font-mono text-muted text-xs">{call.input_summary}</span>
      <Duration ms={call.duration_ms} className="text-muted text-xs" />
      <span className="w-20 text-right text-faint text-xs max-sm:hidden">
        <RelativeTime at={call.started_at} />
      </span>
    </li>
  )
}
