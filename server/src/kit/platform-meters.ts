import { createCounter, createHistogram, type MetricDefinition } from './meters.ts'

/** From a statement in memory to a request that waits for a slow engine, in seconds. */
const quick = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5] as const
const requests = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60] as const
/** A queue may hold runs for hours. */
const waits = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200] as const

/**
 * What this process measures from its start on, in memory. Labels have few values, none of them chosen by a caller:
 * no agent, account, address or id.
 */
export type Meters = ReturnType<typeof createMeters>

export function createMeters() {
  return {
    httpRequests: createCounter(
      metric(
        'counter',
        'http_requests_total',
        'Requests answered, by route pattern and class of the status.',
        ['method', 'route', 'status_class'],
      ),
    ),
    httpSeconds: createHistogram(
      metric(
        'histogram',
        'http_request_seconds',
        'Duration of requests, by route; streams until their end.',
        ['method', 'route', 'status'],
      ),
      requests,
    ),
    dispatchSeconds: createHistogram(
      metric('histogram', 'dispatch_latency_seconds', 'Time from the queue to the claim by the agent.', [
        'trigger',
      ]),
      waits,
    ),
    runsFinished: createCounter(
      metric('counter', 'executions_finished_total', 'Runs that ended, by result.', ['status', 'trigger']),
    ),
    modelRequests: createCounter(
      metric('counter', 'model_requests_total', 'Model requests through the broker, by result.', [
        'provider',
        'result',
      ]),
    ),
    modelSeconds: createHistogram(
      metric(
        'histogram',
        'model_request_seconds',
        'Duration of model requests until the end of their stream.',
        ['provider'],
      ),
      waits,
    ),
    modelTokens: createCounter(
      metric('counter', 'model_tokens_total', 'Tokens of model requests.', ['provider', 'kind']),
    ),
    modelCost: createCounter(
      metric('counter', 'model_cost_usd_total', 'Cost of model requests in US dollars.', ['provider']),
    ),
    scheduleLateness: createHistogram(
      metric('histogram', 'schedule_lateness_seconds', 'Time from the due time of a fire to its record.', []),
      waits,
    ),
    workspaceRecords: createCounter(
      metric('counter', 'workspace_records_total', 'Records of workspaces around runs, by result.', [
        'result',
      ]),
    ),
    workspaceRecordSeconds: createHistogram(
      metric('histogram', 'workspace_record_seconds', 'Duration of records of workspaces around runs.', [
        'result',
      ]),
      waits,
    ),
    eventLoopDelay: createHistogram(
      metric(
        'histogram',
        'event_loop_delay_seconds',
        'Delay of a timer in this process, sampled every second, together with its periodic work.',
        [],
      ),
      quick,
    ),
    databaseSeconds: createHistogram(
      metric('histogram', 'database_query_seconds', 'Duration of database statements.', ['operation']),
      quick,
    ),
    databaseErrors: createCounter(
      metric('counter', 'database_errors_total', 'Database statements that failed.', ['operation']),
    ),
    engineSeconds: createHistogram(
      metric('histogram', 'engine_request_seconds', 'Duration of requests to the container engine.', [
        'operation',
        'result',
      ]),
      requests,
    ),
  }
}

function metric<const L extends string>(
  type: MetricDefinition['type'],
  name: string,
  help: string,
  labels: readonly L[],
): MetricDefinition<L> {
  return { name: `roost_${name}`, type, help, labels, scope: 'process' }
}
