import type { NewEvent } from '../../foundation/outbox/index.ts'
import { timestamp } from '../../kit/clock.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Entry, Source } from '../../runs/dispatch/index.ts'
import type { ExecutionRow } from '../../runs/executions/index.ts'
import type { Decision, FireRow } from '../fires/index.ts'
import type { Schedule } from '../schedules/index.ts'
import { skippedEvent, startedEvent } from './events.ts'
import type { Gate } from './rules.ts'

/** A fire at a due time of the schedule. */
export type ClockFire = {
  schedule: Schedule
  executionId: string
  key: { schedule_id: string; due_at: string; agent_id: string }
  isCatchUp: boolean
}

/** A fire that a person or a webhook triggers. */
export type CalledFire = {
  schedule: Schedule
  executionId: string
  cause: 'manual' | 'webhook'
  context: string | null
  metadata: Record<string, unknown> | null
  by: Source | null
  keep: ((tx: Tx, executionId: string) => Promise<void>) | null
}

/**
 * The planned outcome of a fire. `gate` is the closed gate, or null. `entry` is the record to write: a run, or
 * the reason why it does not start; null leaves no record.
 */
export type Choice<Fire = ClockFire> = { fire: Fire; gate: Gate | null; entry: Entry | null }

/** A choice whose run starts, unless a gate closes before it is recorded. */
export type OpenChoice = Choice & { gate: null; entry: Entry & { why: null } }

/** The recorded outcome of a fire. */
export type Fired =
  | { outcome: 'fired'; executionId: string; message: string; isReplay?: true }
  | { outcome: 'skipped' | 'suppressed' | 'missed'; reason: string; executionId?: string }

export function isOpen(choice: Choice): choice is OpenChoice {
  return choice.gate === null && choice.entry?.why === null
}

/** Closes a gate behind an open choice. The record shows the schedule's message, not that of the hook. */
export function closed({ fire, entry }: OpenChoice, gate: Gate): Choice {
  const request = { ...entry.request, message: fire.schedule.message }
  return { fire, gate, entry: { ...entry, request, why: { status: 'skipped', reason: gate.reason } } }
}

export function decisionOf({ fire, gate, entry }: Choice, now: Date): Decision {
  const recorded = { execution_id: entry && fire.executionId, recorded_at: timestamp(now) }
  if (gate) return { outcome: gate.outcome, reason: gate.reason, ...recorded }
  const reason = entry?.why?.status === 'failed' ? entry.why.error_code : null
  return { outcome: 'fired', reason, ...recorded }
}

/** Events of the schedule, in addition to those of the run. */
export function eventsOf({ fire, gate, entry }: Choice, row: ExecutionRow): NewEvent[] {
  if (gate) return [skippedEvent(row, fire.schedule, gate.reason)]
  return entry?.why ? [] : [startedEvent(row, fire.schedule)]
}

export function firedOf({ fire, gate, entry }: Choice<{ executionId: string }>): Fired {
  const { executionId } = fire
  if (gate) return { ...gate, ...(entry ? { executionId } : {}) }
  return { outcome: 'fired', executionId, message: entry?.request.message ?? '' }
}

/** The stored outcome; null while the fire is claimed and not decided. */
export function decidedFire({ outcome, reason, execution_id }: FireRow): Fired | null {
  if (outcome === null) return null
  if (outcome === 'fired') {
    return { outcome, executionId: execution_id ?? '', message: '', isReplay: true }
  }
  return { outcome, reason: reason ?? '', ...(execution_id === null ? {} : { executionId: execution_id }) }
}
