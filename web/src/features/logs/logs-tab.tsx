import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { LogView } from '../../ui/log-view.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { useRemembered } from '../../ui/use-remembered.ts'
import { logsQuery } from './queries.ts'

const tails = ['100', '500', '1000', '5000'] as const

/** No event tells of lines that a container writes, so they are asked for as long as somebody looks at their end. */
const refreshMs = 5000

/** What the agent's container has written: its start, its link to the platform, its faults. */
export function LogsTab({ agent }: { agent: AgentDetails }) {
  const isRunning = agent.status === 'running'
  const [tail, setTail] = useRemembered<(typeof tails)[number]>('logs-tail', '500')
  const [isFollowing, setFollowing] = useState(true)
  const logs = useQuery({
    ...logsQuery(useApi(), agent.name, Number(tail)),
    // Paused and stopped logs stand still; while the page is hidden no interval runs at all.
    refetchInterval: isRunning && isFollowing ? refreshMs : false,
    // Another tail shows the lines that are there until it has come.
    placeholderData: (before) => before,
  })
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 p-4 md:px-6">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="flex items-center gap-2">
          <span className="text-xs text-muted">Last lines</span>
          <Segmented
            size="sm"
            label="Last lines"
            value={tail}
            onValueChange={setTail}
            options={tails.map((value) => ({ value, label: Number(value).toLocaleString('en') }))}
          />
        </div>
        <p className="text-xs text-muted">
          {isRunning ? (
            isFollowing ? (
              'Asked for every 5 s'
            ) : (
              <>
                Paused, as of <RelativeTime at={logs.dataUpdatedAt || null} />
              </>
            )
          ) : (
            'Stopped: the last it wrote'
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
              ? 'There is no container yet: it is made when the agent starts.'
              : 'The container has written nothing yet.'
          }
          className="flex-1"
        />
      ) : logs.error ? (
        <ErrorState
          title="The log could not be read"
          error={logs.error}
          onRetry={() => void logs.refetch()}
        />
      ) : (
        <Skeleton className="h-auto flex-1 rounded-md" />
      )}
    </div>
  )
}
