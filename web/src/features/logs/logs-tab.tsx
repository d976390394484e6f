import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { LogView } from '../../ui/log-view.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useStoredState } from '../../ui/use-stored-state.ts'
import { logsQuery } from './queries.ts'

const tails = ['100', '500', '1000', '5000'] as const

/** Polling interval in ms: no event reports new log lines. Active only while the end of the log is shown. */
const refreshMs = 5000

/** The output of the agent's container: its start, its connection to the platform, its errors. */
export function LogsTab({ agent }: { agent: AgentDetails }) {
  const isRunning = agent.status === 'running'
  const [tail, setTail] = useStoredState<(typeof tails)[number]>('logs-tail', '500')
  const [isFollowing, setFollowing] = useState(true)
  const logs = useQuery({
    ...logsQuery(useApi(), agent.name, Number(tail)),
    // No polling when paused or stopped, or while the page is hidden.
    refetchInterval: isRunning && isFollowing ? refreshMs : false,
    // Keeps the current lines visible while another number of lines loads.
    placeholderData: (before) => before,
  })
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 p-4 md:px-6">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="flex items-center gap-2">
          <span className="text-xs text-muted">Lines</span>
          <Segmented
            size="sm"
            label="Number of lines"
            value={tail}
            onValueChange={setTail}
            options={tails.map((value) => ({ value, label: Number(value).toLocaleString('en') }))}
          />
        </div>
        <p className="text-xs text-muted">
          {isRunning ? (
            isFollowing ? (
              'Refreshes every 5 s'
            ) : (
              <>
                Paused. Last refresh: <RelativeTime at={logs.dataUpdatedAt || null} />
              </>
            )
          ) : (
            'The agent is not running. These are its last log lines.'
          )}
        </p>
      </div>
      {logs.data ? (
        <LogView
          label={`Log of ${agent.name}`}
          text={logs.data.logs}
          fileName={`${agent.name}.log`}
          isLive={isRunning}
          follow={isFollowing}
          onFollowChange={setFollowing}
          empty={
            agent.container_id === null
              ? 'No container yet. It is created when the agent starts.'
              : 'The container has not written any output yet.'
          }
          className="flex-1"
        />
      ) : logs.error ? (
        <ErrorState title="Could not read the log" error={logs.error} onRetry={() => void logs.refetch()} />
      ) : (
        <Skeleton className="h-auto flex-1 rounded-md" />
      )}
    </div>
  )
}
