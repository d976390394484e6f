import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { RunQuery } from '@roost/contracts/runs/run-query'
import { getRouteApi } from '@tanstack/react-router'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FanOutProgress } from './fan-out-progress.tsx'
import { agentRunKeys } from './find/complete.ts'
import { filterOf, queryOf, searchOf } from './find/search-query.ts'
import { OpenRuns } from './open-runs.tsx'
import { RunFilters } from './run-filters.tsx'
import { RunsTable } from './runs-table.tsx'
import { SendTask } from './send-task.tsx'

const route = getRouteApi('/signed-in/agents/$name')
type Search = ReturnType<typeof route.useSearch>

/** Sends work to the agent, and shows running, queued and past runs. */
export function ExecutionsTab({ agent }: { agent: AgentDetails }) {
  const { page = 1, fan_out: fanOut, ask, from, ...search } = route.useSearch()
  const navigate = route.useNavigate()
  const { status, trigger, error, model, person, cost, tokens, duration, q } = search
  const query = queryOf({ status, trigger, error, model, person, cost, tokens, duration, q })
  const change = (next: Partial<Search>) =>
    void navigate({
      search: (now) => ({ ...now, tab: 'executions', ...next }),
      replace: true,
      resetScroll: false,
    })
  const filter = { ...filterOf(query), agent: agent.name }
  const apply = (next: RunQuery) => {
    const { agent: _agent, tag: _tag, hours: _hours, from: _from, to: _to, ...parts } = searchOf(next)
    change({ ...parts, page: undefined })
  }
  const isFiltered = Object.keys(query).length > 0
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
        <h2 id="run-history" className="font-semibold text-base">
          History
        </h2>
        <div className="flex flex-wrap items-start gap-2">
          <RunFilters
            query={query}
            keys={agentRunKeys}
            filter={filter}
            onQuery={apply}
            onChange={(next) => change({ ...next, page: undefined })}
          />
        </div>
        <RunsTable
          filter={filter}
          page={page}
          onPageChange={(next) => change({ page: next })}
          empty={
            isFiltered ? (
              <EmptyState
                title="No matching runs"
                action={<Button onClick={() => apply({})}>Clear filters</Button>}
              />
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
