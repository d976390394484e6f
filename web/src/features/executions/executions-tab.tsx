import type { AgentDetails } from '@roost/contracts/agents/agent'
import { getRouteApi } from '@tanstack/react-router'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { useThrottled } from '../../ui/use-throttled.ts'
import { FanOutProgress } from './fan-out-progress.tsx'
import { OpenRuns } from './open-runs.tsx'
import { RunFilters } from './run-filters.tsx'
import { RunsTable } from './runs-table.tsx'
import { SendTask } from './send-task.tsx'

const route = getRouteApi('/signed-in/agents/$name')
type Search = ReturnType<typeof route.useSearch>

/** Debounce of the search text in milliseconds. */
const typingPaceMs = 300

/** Sends work to the agent, and shows running, queued and past runs. */
export function ExecutionsTab({ agent }: { agent: AgentDetails }) {
  const { status, trigger, q, page = 1, fan_out: fanOut, ask, from } = route.useSearch()
  const navigate = route.useNavigate()
  const search = useThrottled(q, typingPaceMs)
  const change = (next: Partial<Search>) =>
    void navigate({
      search: (now) => ({ ...now, tab: 'executions', ...next }),
      replace: true,
      resetScroll: false,
    })
  const filter = (next: Partial<Search>) => change({ page: undefined, ...next })
  const clear = () => filter({ status: undefined, trigger: undefined, q: undefined })
  const isFiltered = Boolean(status || trigger || q)
  return (
    <div className="flex min-w-0 flex-col gap-8">
      <SendTask
        agent={agent}
        mode={ask ?? 'one'}
        from={from ?? null}
        onModeChange={(mode) => change({ ask: mode === 'one' ? undefined : mode, from: undefined })}
        onFromClear={() => change({ from: undefined })}
        onFanOut={(id) => change({ fan_out: id })}
      />
      {fanOut !== undefined && (
        <FanOutProgress name={agent.name} id={fanOut} onClose={() => change({ fan_out: undefined })} />
      )}
      <OpenRuns agent={agent} />
      <section aria-labelledby="run-history" className="flex min-w-0 flex-col gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <h2 id="run-history" className="mr-auto font-semibold text-base">
            History
          </h2>
          <RunFilters search={{ status, trigger, q }} onChange={filter} />
        </div>
        <RunsTable
          filter={{
            agent: agent.name,
            hours: 0,
            ...(status ? { status } : {}),
            ...(trigger ? { trigger } : {}),
            ...(search ? { search } : {}),
          }}
          page={page}
          onPageChange={(next) => change({ page: next })}
          empty={
            isFiltered ? (
              <EmptyState title="No matching runs" action={<Button onClick={clear}>Clear filters</Button>} />
            ) : (
              <EmptyState
                title="No runs yet"
                description="Send a task above. Runs of chats, schedules and loops appear here as well."
              />
            )
          }
        />
      </section>
    </div>
  )
}
