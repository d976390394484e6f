import type { Restore } from '@roost/contracts/agents/workspace-restore'
import {
  type Attempt,
  type AttemptKeep,
  type AttemptSet,
  type AttemptSetSummary,
  maxShownResult,
} from '@roost/contracts/runs/attempts'
import type { Spent } from '../executions/index.ts'
import { expiryOf, isEnded, isPassed } from './rules.ts'
import type { AttemptRow, AttemptRun, SetRow } from './store.ts'
import type { AttemptChanges, CheckResult } from './tables.ts'

export type Facts = {
  agentName: string
  /** User name of the account that started it. */
  createdBy: string | null
  attempts: readonly AttemptRow[]
  /** Runs of attempts by id. */
  runs: ReadonlyMap<string, AttemptRun>
  /** Costs of forks that are not removed yet, by agent id. */
  costs: ReadonlyMap<string, Spent>
}

const maxTask = 200

export const checkResultOf = ({ check_result }: Pick<AttemptRow, 'check_result'>): CheckResult | null =>
  // Written by this feature.
  check_result === null ? null : (JSON.parse(check_result) as CheckResult)

export function costOf(
  { cost_micros, cost_estimated, agent_id }: Pick<AttemptRow, 'cost_micros' | 'cost_estimated' | 'agent_id'>,
  costs: ReadonlyMap<string, Spent>,
): Spent {
  if (cost_micros !== null) return { micros: cost_micros, isEstimated: cost_estimated === 1 }
  return costs.get(agent_id ?? '') ?? { micros: 0, isEstimated: false }
}

export function summaryView(
  set: SetRow,
  { agentName, createdBy, attempts, costs }: Facts,
): AttemptSetSummary {
  const hasCheck = set.check_command !== null
  const passed = attempts.filter((each) =>
    isPassed({ status: each.status, check: checkResultOf(each) }, hasCheck),
  )
  return {
    id: set.id,
    agent_name: agentName,
    status: set.status,
    message: set.message,
    task: (attempts[0]?.message ?? '').slice(0, maxTask).toWellFormed(),
    total: attempts.length,
    ended: attempts.filter(({ status }) => isEnded(status)).length,
    passed: passed.length,
    cost: attempts.reduce((sum, each) => sum + costOf(each, costs).micros, 0) / 1_000_000,
    max_cost_usd: set.max_cost_micros / 1_000_000,
    kept: set.status === 'kept' ? set.kept_number : null,
    created_by: createdBy,
    created_at: set.created_at,
    ended_at: set.ended_at,
  }
}

export function setView(set: SetRow, facts: Facts, restore: Restore | null): AttemptSet {
  const { check_command: command, check_seconds: seconds } = set
  return {
    ...summaryView(set, facts),
    pick: set.pick,
    check: command === null ? null : { command, timeout_seconds: seconds ?? 0 },
    base_record: set.base_record_id,
    expires_at: set.status === 'done' && set.done_at ? expiryOf(set.done_at).toISOString() : null,
    attempts: facts.attempts.map((attempt) => attemptView(set, attempt, facts)),
    keep: keepView(set, restore),
  }
}

function attemptView(set: SetRow, attempt: AttemptRow, { runs, costs }: Facts): Attempt {
  const { number, status, message, runtime, model, execution_id, record_id, changes } = attempt
  const run = execution_id === null ? undefined : runs.get(execution_id)
  const cost = costOf(attempt, costs)
  return {
    ...{ number, status, message, runtime: runtime ?? '', model },
    // Before that, it is a run of the fork, which no request reaches.
    execution_id: attempt.cost_micros === null ? null : execution_id,
    result: run?.response?.slice(0, maxShownResult).toWellFormed() ?? null,
    error: attempt.error ?? run?.error ?? null,
    error_code: run?.error_code ?? null,
    cost: cost.micros / 1_000_000,
    cost_estimated: cost.isEstimated,
    duration_ms: run?.duration_ms ?? null,
    steps: run?.tool_count ?? null,
    check: checkResultOf(attempt),
    record: changes === null || set.ended_at !== null ? null : record_id,
    // Written by this feature.
    changes: changes === null ? null : (JSON.parse(changes) as AttemptChanges),
  }
}

function keepView({ status, kept_number, message }: SetRow, restore: Restore | null): AttemptKeep | null {
  if (kept_number === null) return null
  return {
    attempt: kept_number,
    state: status === 'keeping' ? 'working' : status === 'kept' ? 'kept' : 'failed',
    reason: restore?.reason ?? null,
    message: restore?.message ?? message,
    conflicts: restore?.conflicts ?? [],
    conflict_count: restore?.conflict_count ?? 0,
    undo_record: restore?.undo_record ?? null,
  }
}
