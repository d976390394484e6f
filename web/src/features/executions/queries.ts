import { getCapacity } from '@roost/contracts/agents/settings'
import { type Client, errorOf } from '@roost/contracts/client'
import {
  type ExecutionSummary,
  getExecution,
  listAgentExecutions,
  listRunningExecutions,
  streamExecution,
} from '@roost/contracts/runs/executions'
import { getFanOut } from '@roost/contracts/runs/fan-out'
import {
  getAnyExecution,
  getExecutionNeighbours,
  getExecutionTrace,
  getFleetErrors,
  getFleetStats,
  getFleetTimeline,
  listExecutions,
  streamAnyExecution,
  type TimelineGroup,
} from '@roost/contracts/runs/fleet-executions'
import { getQueue } from '@roost/contracts/runs/queue'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { ofAgent, ofRun, runEvents, staleOn } from '../../live/stale.ts'
import type { OpenStream } from '../../live/stream.ts'

export const runKeys = {
  fleet: ['executions'] as const,
  ofAgent: (name: string) => ['agent', name, 'executions'] as const,
  one: (id: string) => ['execution', id] as const,
  details: (id: string) => ['execution', id, 'details'] as const,
  trace: (id: string) => ['execution', id, 'trace'] as const,
}

staleOn(runEvents, runKeys.fleet, ofAgent(runKeys.ofAgent), ofRun(runKeys.one))
// Each step changes the cost and the duration of the run.
staleOn(['agent_activity'], ofRun(runKeys.details))

/** The filter of a list of runs. Omitted parts do not filter. `hours`: 0 for all time. */
export type RunFilter = {
  agent?: string
  status?: string
  trigger?: string
  search?: string
  /** An empty text matches runs without one. */
  model?: string
  person?: string
  tag?: string
  error?: string
  /** Comparisons such as `>0.5`. */
  cost?: string
  tokens?: string
  duration?: string
  hours: number
  /** UTC days, both inclusive. With one of them, `hours` is ignored. */
  from?: string
  to?: string
}

export type RunWindow = Omit<RunFilter, 'status' | 'trigger' | 'search'>

export type RunPage = { rows: ExecutionSummary[]; total: number }

/** Rows per page. */
export const pageSize = 100

const listKey = ({ agent }: RunFilter) => (agent === undefined ? runKeys.fleet : runKeys.ofAgent(agent))

/** One page of runs, newest first. The previous page stays visible while the next one loads. */
export const runsQuery = (api: Client, filter: RunFilter, page: number, limit = pageSize) =>
  queryOptions({
    queryKey: [...listKey(filter), 'list', filter, page, limit],
    queryFn: ({ signal }) => fetchRuns(api, filter, { page, limit, signal }),
    placeholderData: keepPreviousData,
  })

async function fetchRuns(
  api: Client,
  filter: RunFilter,
  { page, limit, signal }: { page: number; limit: number; signal: AbortSignal },
): Promise<RunPage> {
  // The total is in a header, which the plain client does not return.
  const response = await api.open(listExecutions, {
    query: { ...filtersOf(filter), limit: String(limit), offset: String((page - 1) * limit) },
    signal,
  })
  if (!response.ok) throw await errorOf(response)
  // The platform guarantees the shape of its reply.
  const rows = (await response.json()) as ExecutionSummary[]
  return { rows, total: Number(response.headers.get('x-total-count') ?? rows.length) }
}

/** Counts of the time window by outcome. Running and queued counts are current. */
export const runStatsQuery = (api: Client, filter: RunWindow) =>
  queryOptions({
    queryKey: [...listKey(filter), 'stats', filter],
    queryFn: ({ signal }) => api.call(getFleetStats, { query: windowOf(filter), signal }),
    placeholderData: keepPreviousData,
  })

export const runTimelineQuery = (api: Client, filter: RunWindow, groupBy: TimelineGroup) =>
  queryOptions({
    queryKey: [...listKey(filter), 'timeline', filter, groupBy],
    queryFn: ({ signal }) =>
      api.call(getFleetTimeline, { query: { ...windowOf(filter), group_by: groupBy }, signal }),
    placeholderData: keepPreviousData,
  })

/** The failed runs of a filter by error code. The filters by status and error do not apply. */
export const runErrorsQuery = (api: Client, { status: _status, error: _error, ...filter }: RunFilter) =>
  queryOptions({
    queryKey: [...listKey(filter), 'errors', filter],
    queryFn: ({ signal }) => api.call(getFleetErrors, { query: filtersOf(filter), signal }),
    placeholderData: keepPreviousData,
  })

function filtersOf({ status, trigger, search, ...window }: RunFilter) {
  return {
    ...windowOf(window),
    ...(status ? { status } : {}),
    ...(trigger ? { triggered_by: trigger } : {}),
    ...(search ? { search } : {}),
  }
}

function windowOf({ agent, hours, from, to, model, person, tag, error, ...measures }: RunWindow) {
  return {
    hours: String(hours),
    ...(agent ? { agent } : {}),
    ...(from ? { start_time: `${from}T00:00:00.000Z` } : {}),
    ...(to ? { end_time: `${to}T23:59:59.999Z` } : {}),
    ...(model === undefined ? {} : { model }),
    ...(person === undefined ? {} : { person }),
    ...(tag === undefined ? {} : { tag }),
    ...(error === undefined ? {} : { error }),
    ...measures,
  }
}

export const executionQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: runKeys.details(id),
    queryFn: ({ signal }) => api.call(getExecution, { params: { name, id }, signal }),
  })

/** A run by its ID only. Admins open the runs of deleted agents this way. */
export const anyExecutionQuery = (api: Client, id: string) =>
  queryOptions({
    queryKey: [...runKeys.details(id), 'any'],
    queryFn: ({ signal }) => api.call(getAnyExecution, { params: { id }, signal }),
  })

/** The model calls of a run and the runs that it started. */
export const traceQuery = (api: Client, id: string) =>
  queryOptions({
    queryKey: runKeys.trace(id),
    queryFn: ({ signal }) => api.call(getExecutionTrace, { params: { id }, signal }),
  })

/** The runs before and after a run in a list. */
export const neighboursQuery = (api: Client, id: string, filter: RunFilter) =>
  queryOptions({
    queryKey: [...listKey(filter), 'beside', id, filter],
    queryFn: ({ signal }) =>
      api.call(getExecutionNeighbours, { params: { id }, query: filtersOf(filter), signal }),
    placeholderData: keepPreviousData,
  })

export const runningQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...runKeys.ofAgent(name), 'running'],
    queryFn: ({ signal }) => api.call(listRunningExecutions, { params: { name }, signal }),
  })

/** The queued runs of the agent, in order. */
export const queueQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...runKeys.ofAgent(name), 'queue'],
    queryFn: ({ signal }) => api.call(getQueue, { params: { name }, signal }),
  })

/** The slots of the agent and the runs that use them. */
export const slotsOfAgentQuery = (api: Client, name: string) =>
  queryOptions({
    queryKey: [...runKeys.ofAgent(name), 'capacity'],
    queryFn: ({ signal }) => api.call(getCapacity, { params: { name }, signal }),
  })

export const fanOutQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...runKeys.ofAgent(name), 'fan-out', id],
    queryFn: ({ signal }) => api.call(getFanOut, { params: { name, fan_out_id: id }, signal }),
  })

/**
 * The attempts after the first one, oldest first. The API has no filter for them, so they are picked from the
 * agent's latest 200 retries.
 */
export const retriesQuery = (api: Client, name: string, firstId: string) =>
  queryOptions({
    queryKey: [...runKeys.ofAgent(name), 'retries', firstId],
    queryFn: async ({ signal }) => {
      const query = { triggered_by: 'retry', limit: '200' }
      const rows = await api.call(listAgentExecutions, { params: { name }, query, signal })
      return rows
        .filter((row) => row.retry_of_execution_id === firstId)
        .sort((one, other) => one.attempt_number - other.attempt_number)
    },
  })

/** Opens the transcript of a run, live or past. */
export const transcriptStream =
  (api: Client, { agent_name: name, id, agent_deleted }: ExecutionSummary): OpenStream =>
  ({ after, headers, signal }) => {
    const options = { query: { after: String(after), partials: 'true' }, headers, signal } as const
    return agent_deleted
      ? api.open(streamAnyExecution, { params: { id }, ...options })
      : api.open(streamExecution, { params: { name, id }, ...options })
  }

/** Maximum number of runs in a chart of the fleet. */
export const latestRunsMost = 600
const latestPage = 200

/** The newest runs of the fleet in a time window, up to the chart's limit; `total` counts all. */
export const latestRunsQuery = (api: Client, hours: number) =>
  queryOptions({
    queryKey: [...runKeys.fleet, 'latest', hours],
    queryFn: async ({ signal }): Promise<RunPage> => {
      const first = await fetchRuns(api, { hours }, { page: 1, limit: latestPage, signal })
      const pages = Math.ceil(Math.min(first.total, latestRunsMost) / latestPage)
      const rest = await Promise.all(
        Array.from({ length: Math.max(0, pages - 1) }, (_, index) =>
          fetchRuns(api, { hours }, { page: index + 2, limit: latestPage, signal }),
        ),
      )
      // A new run shifts the pages by one, so a run may arrive twice.
      const rows = new Map([first, ...rest].flatMap((page) => page.rows).map((row) => [row.id, row]))
      return { rows: [...rows.values()], total: first.total }
    },
    placeholderData: keepPreviousData,
  })
