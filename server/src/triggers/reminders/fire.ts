import type { FieldsOf } from '@roost/contracts/kit/event'
import type { reminderFired } from '@roost/contracts/triggers/reminders'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Dispatch, type RunContext, readSource } from '../../runs/dispatch/index.ts'
import { retryAfter } from './rules.ts'
import { type ReminderRow, reminderStore } from './store.ts'

export type FireDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'byId'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
}

const pageRows = 100

/**
 * Fires each due reminder once: it leaves `pending` in the transaction that accepts its run. Reminders of agents
 * without autonomy wait until autonomy is enabled.
 */
export function createFire(deps: FireDeps) {
  const { db, clock, log, events, agentRecords, dispatch } = deps
  const store = reminderStore(db)

  async function record(tx: Tx, row: ReminderRow, agent: RunContext): Promise<void> {
    const now = clock.now()
    if (!(await reminderStore(tx).fire(row.id, timestamp(now)))) return
    const source = readSource(row.source)
    const { row: run } = await dispatch.enqueue(tx, agent, {
      agentId: agent.id,
      kind: 'task',
      triggeredBy: 'reminder',
      message: row.message,
      source,
      // A reminder is no call of an agent, so its run is as deep as the one that set it.
      chainDepth: source.depth,
      model: row.model,
      timeoutSeconds: row.timeout_seconds,
      // Stored by this feature from a list of names.
      allowedTools: row.allowed_tools === null ? null : (JSON.parse(row.allowed_tools) as string[]),
      links: { reminderId: row.id },
    })
    await reminderStore(tx).firedAs(row.id, run.id)
    const fields: FieldsOf<typeof reminderFired> = { reminder_id: row.id, execution_id: run.id }
    await events.append(
      tx,
      { type: 'reminder.fired', agent_names: [agent.name], agent_ids: [agent.id], fields },
      now,
    )
  }

  async function fire(row: ReminderRow): Promise<void> {
    try {
      const agent = await dispatch.checkAgent(row.agent_id)
      await dispatch.transaction((tx) => record(tx, row, agent))
    } catch (error) {
      log.warn({ err: error, reminder_id: row.id }, 'a reminder could not be fired')
      const again = retryAfter(row.fire_attempts + 1)
      await store.attempted(row, {
        error: error instanceof Fault ? error.message : 'The platform could not start the run.',
        again: again === null ? null : timestamp(secondsLater(clock.now(), again)),
      })
    }
  }

  return async function fireDue(signal: AbortSignal): Promise<void> {
    const now = timestamp(clock.now())
    let after: ReminderRow | null = null
    while (!signal.aborted) {
      const rows: ReminderRow[] = await store.due(now, pageRows, after)
      for (const row of rows) {
        if (signal.aborted) return
        const agent = await agentRecords.byId(row.agent_id)
        if (agent?.autonomy_enabled) await fire(row)
      }
      after = rows.at(-1) ?? null
      if (rows.length < pageRows) return
    }
  }
}
