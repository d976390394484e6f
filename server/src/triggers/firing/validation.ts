import type { RestoreService } from '../../agents/history/index.ts'
import { createFollowUps } from '../../background/follow-ups.ts'
import type { Alerts } from '../../foundation/alerts/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault, isFault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch, RunContext, RunContexts } from '../../runs/dispatch/index.ts'
import { type ExecutionRow, executionStore } from '../../runs/executions/index.ts'
import { scheduleRunStore } from '../fires/index.ts'
import type { Schedule, Schedules } from '../schedules/index.ts'
import { promptName } from './requests.ts'
import { readReport, validationMessage } from './validation-rules.ts'

export type ValidationDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  dispatch: Pick<Dispatch, 'enqueue'>
  schedules: Pick<Schedules, 'byId'>
  runContextOf(agentId: string): Promise<RunContext | null>
  /** The present access of a principal to the agent; `ended` if it has none. */
  principalFor: RunContexts['principal']
  alerts: Pick<Alerts, 'raise'>
  /** Undoes a failed run, if the agent's settings or `isRequested` say so. */
  undoFailed: RestoreService['undoFailed']
}

export type Validation = {
  /** Marks a run that has just succeeded; its validation begins after the commit. */
  mark(tx: Tx, row: ExecutionRow, schedule: Schedule): Promise<void>
  /**
   * Begins the validation of a marked run once, and returns its id. Throws `execution_not_found`, `conflict`,
   * `agent_not_found`, `circuit_open`.
   */
  begin(executionId: string): Promise<string>
  /** Stores the result of an ended validation with its run, in the same transaction. */
  ended(tx: Tx, validation: ExecutionRow, now: Date): Promise<void>
  /** Begins the validations that a killed process or an open breaker left undone. */
  pass(signal: AbortSignal): Promise<void>
  settled(): Promise<void>
}

const pageRows = 100
const noCaller = { userId: null, userEmail: null, agent: null, key: null }

/** After a successful scheduled run, asks the same agent in a clean context whether the run did its task. */
export function createValidation(deps: ValidationDeps): Validation {
  const { db, clock, log, dispatch, schedules, runContextOf, principalFor, alerts } = deps
  const followUps = createFollowUps({
    look: async (id) => void (await begin(id)),
    failed(id, error) {
      // The loop tries again.
      if (!isFault(error)) log.warn({ execution_id: id, err: error }, 'a validation could not be started')
    },
  })

  async function begin(executionId: string): Promise<string> {
    const run = await executionStore(db).byId(executionId)
    if (!run) throw new Fault('execution_not_found')
    if (run.validation_execution_id !== null) return run.validation_execution_id
    if (run.business_status !== 'pending_validation') {
      throw new Fault('conflict', 'The execution waits for no validation.')
    }
    const schedule = run.schedule_id === null ? null : await schedules.byId(run.schedule_id)
    const context = await runContextOf(run.agent_id)
    if (!schedule || !context) {
      await db.atomically((tx) => withdraw(tx, run.id))
      throw new Fault(
        context ? 'conflict' : 'agent_not_found',
        'The schedule or the agent of the run was deleted.',
      )
    }
    const validationId = newId()
    const principal = await principalOf(run, schedule)
    const message = validationMessage(
      schedule.validation_prompt,
      { message: run.message, response: run.response ?? '' },
      newId(),
    )
    const isOwn = await db.atomically(async (tx) => {
      if (!(await scheduleRunStore(tx).linkValidation(run.id, validationId))) return false
      // If the agent was stopped in between, the run waits in the queue like runs accepted earlier.
      await dispatch.enqueue(tx, context, {
        executionId: validationId,
        agentId: run.agent_id,
        kind: 'task',
        triggeredBy: 'validation',
        message,
        source: { principal, ...noCaller },
        model: schedule.model,
        timeoutSeconds: schedule.validation_timeout_seconds,
        links: { scheduleId: schedule.id, validatesExecutionId: run.id },
        schedule: { name: promptName(schedule, principal), nextRunAt: null },
      })
      return true
    })
    return isOwn ? validationId : begin(executionId)
  }

  /**
   * A validation contains the words of the prompt's author and what the run answered. It works for the author, or for
   * the principal of the run if the author has the rights of the owner: neither's words get more rights.
   */
  async function principalOf(run: ExecutionRow, schedule: Schedule): Promise<string> {
    const ofRun = run.principal ?? schedule.principal
    if (schedule.validation_prompt === null) return ofRun
    const author = schedule.validation_principal ?? schedule.principal
    const rights = await principalFor(run.agent_id, author)
    return 'access' in rights && rights.access === 'owner' ? ofRun : author
  }

  async function withdraw(tx: Tx, executionId: string): Promise<void> {
    const decision = {
      business_status: 'validation_unavailable' as const,
      validated_at: timestamp(clock.now()),
      validation_report: null,
    }
    await scheduleRunStore(tx).decideValidation(executionId, decision)
  }

  return {
    begin,
    settled: followUps.settled,

    async mark(tx, row, schedule) {
      if (schedule.validation_enabled !== 1) return
      const isEmpty = (row.response ?? '').trim() === ''
      const status = isEmpty ? 'validation_unavailable' : 'pending_validation'
      await scheduleRunStore(tx).markForValidation(row.id, status)
      if (!isEmpty) tx.onCommitted(() => followUps.soon(row.id))
    },

    async ended(tx, validation, now) {
      const runId = validation.validates_execution_id
      if (runId === null) return
      // A cancelled validation has no verdict.
      if (validation.status === 'cancelled') return withdraw(tx, runId)
      const report = validation.status === 'success' ? readReport(validation.response) : null
      const isValid = report?.status === 'pass'
      const run = await scheduleRunStore(tx).decideValidation(runId, {
        business_status: isValid ? 'validated' : 'failed_validation',
        validated_at: timestamp(now),
        validation_report: report && JSON.stringify(report),
      })
      if (!run || isValid) return
      const schedule = run.schedule_id === null ? null : await schedules.byId(run.schedule_id, tx)
      await deps.undoFailed(tx, {
        ...{ agentId: run.agent_id, executionId: run.id, validationId: validation.id },
        isRequested: schedule?.undo_failed === 1,
      })
      await alerts.raise(tx, {
        agentId: run.agent_id,
        kind: 'validation_failed',
        priority: 'high',
        title: 'Validation failed',
        question: report?.summary ?? validation.error ?? 'The answer of the validation cannot be read.',
        executionId: run.id,
        context: { schedule_id: run.schedule_id, validation_execution_id: validation.id },
      })
    },

    async pass(signal) {
      // All pages: runs behind an open breaker must not block the others.
      let runs = await scheduleRunStore(db).unvalidated(null, pageRows)
      while (runs.length > 0) {
        for (const { id } of runs) {
          if (signal.aborted) return
          followUps.soon(id)
        }
        await followUps.settled()
        runs = await scheduleRunStore(db).unvalidated(runs.at(-1) ?? null, pageRows)
      }
    },
  }
}
