import type { NewEvent } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Entry, NotRun, RunContext } from '../../runs/dispatch/index.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { Decision } from '../fires/index.ts'
import type { Schedule } from '../schedules/index.ts'
import type { Fired } from './decided.ts'
import { skippedEvent, startedEvent } from './events.ts'
import type { createFireRequests } from './requests.ts'
import type { Gate } from './rules.ts'

/** A fire of the clock on its way through the gates. */
export type Due = {
  schedule: Schedule
  key: { schedule_id: string; due_at: string; agent_id: string }
  executionId: string
  isCatchUp: boolean
  /** As it was when the fire came. */
  isPreviousActive: boolean
}

/** A gate has closed; `fact` is null of an agent that is gone. */
export type Closed = { due: Due; fact: RunContext | null; gate: Gate }
/** All gates are open; `refusal` fails the run before it begins. */
export type Open = { due: Due; fact: RunContext; message: string; refusal: NotRun | null }
/** What is to become of a fire. */
export type Choice = Closed | Open

export function decisionOf(choice: Choice, now: ReturnType<Clock['now']>): Decision {
  const recorded_at = timestamp(now)
  const execution_id = hasRecord(choice) ? choice.due.executionId : null
  if ('gate' in choice) {
    return { outcome: choice.gate.outcome, reason: choice.gate.reason, execution_id, recorded_at }
  }
  const reason = choice.refusal?.status === 'failed' ? choice.refusal.error_code : null
  return { outcome: 'fired', reason, execution_id, recorded_at }
}

/** What is suppressed, or of an agent that is gone, leaves no record of a run. */
export function hasRecord(choice: Choice): choice is Choice & { fact: RunContext } {
  return 'gate' in choice ? choice.gate.outcome === 'skipped' && choice.fact !== null : true
}

export function entryOf(
  choice: Choice & { fact: RunContext },
  requestOf: ReturnType<typeof createFireRequests>['requestOf'],
): Entry {
  const { schedule, executionId } = choice.due
  const message = 'gate' in choice ? schedule.message : choice.message
  const request = requestOf(schedule, { executionId, message, trigger: 'schedule' })
  if (!('gate' in choice)) return { agent: choice.fact, request, why: choice.refusal }
  return { agent: choice.fact, request, why: { status: 'skipped', reason: choice.gate.reason } }
}

/** What is told of it beside the run's own events. */
export function eventsOf(choice: Choice, row: ExecutionRow): NewEvent[] {
  const { schedule } = choice.due
  if ('gate' in choice) return [skippedEvent(row, schedule, choice.gate.reason)]
  return choice.refusal ? [] : [startedEvent(row, schedule)]
}

/** What is answered once it is recorded. */
export function firedOf(choice: Choice): Fired {
  const { executionId } = choice.due
  if (!('gate' in choice)) return { outcome: 'fired', executionId, message: choice.message }
  return { ...choice.gate, ...(hasRecord(choice) ? { executionId } : {}) }
}
