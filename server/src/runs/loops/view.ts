import type { Loop, LoopRun } from '@roost/contracts/runs/loops'
import { dollars } from '../executions/index.ts'
import { costOf, failedRuns, runStatusOf, startOf, statusOf } from './rules.ts'
import type { LoopRow, RunRow } from './store.ts'

export type ViewParts = {
  agentName: string
  /** In order. */
  runs: readonly RunRow[]
  /** Reply of the last successful run; null before there is one. */
  lastResponse: string | null
  now: Date
}

/** View of a loop. Its runs hold no private conversation, so everyone who can see it can read them. */
export function viewOf(loop: LoopRow, { agentName, runs, lastResponse, now }: ViewParts): Loop {
  const startedAt = startOf(runs)
  return {
    loop_id: loop.id,
    agent_name: agentName,
    status: statusOf(loop, runs),
    stop_reason: loop.stop_reason,
    max_runs: loop.max_runs,
    runs_completed: loop.runs_completed,
    failed_runs: failedRuns(runs),
    on_failure: loop.on_failure,
    max_consecutive_failures: loop.max_consecutive_failures,
    stop_signal: loop.stop_signal,
    delay_seconds: loop.delay_seconds,
    timeout_per_run: loop.timeout_per_run,
    max_duration_seconds: loop.max_duration_seconds,
    elapsed_seconds: startedAt === null ? null : secondsBetween(startedAt, loop.completed_at, now),
    max_cost_usd: dollars(loop.max_cost_micros),
    total_cost: costOf(runs) / 1_000_000,
    cost_estimated: runs.some((run) => run.cost_estimated === 1),
    no_progress_threshold: loop.no_progress_threshold,
    model: loop.model,
    // Written by this feature from a list of names.
    allowed_tools: loop.allowed_tools === null ? null : (JSON.parse(loop.allowed_tools) as string[]),
    message: loop.message,
    last_response: lastResponse,
    error: loop.error,
    runs: runs.map(runOf),
    next_run_at: loop.next_run_at,
    stop_requested_at: loop.stop_requested_at,
    created_at: loop.created_at,
    started_at: startedAt,
    completed_at: loop.completed_at,
    started_by: loop.started_by,
  }
}

function runOf(run: RunRow, index: number): LoopRun {
  return {
    run_number: index + 1,
    execution_id: run.id,
    status: runStatusOf(run.status),
    response_preview: run.response_preview,
    cost: dollars(run.cost_micros),
    cost_estimated: run.cost_estimated === 1,
    duration_ms: run.duration_ms,
    error: run.error,
    started_at: run.started_at,
    completed_at: run.completed_at,
  }
}

function secondsBetween(from: string, to: string | null, now: Date): number {
  const end = to === null ? now.getTime() : Date.parse(to)
  return Math.max(0, Math.floor((end - Date.parse(from)) / 1000))
}
