import type { ExecutionStatus, FinalStatus } from '@roost/contracts/runs/executions'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Tx } from '../../ports/database/port.ts'
import { type Live, transcriptStore } from '../transcripts/index.ts'
import { activitySignal, finishedEvent } from './events.ts'
import type { RunHooks } from './hooks.ts'
import { type EndPatch, type ExecutionRow, executionStore } from './store.ts'

export type Settle = {
  /**
   * Ends a run in the open transaction: the row, its event, and what other features do with it. Null: the
   * row was no longer as `from` says; somebody else decided first, and nothing was done.
   */
  settle(
    tx: Tx,
    row: ExecutionRow,
    from: { statuses: readonly ExecutionStatus[]; claimToken?: number },
    end: Ending,
  ): Promise<ExecutionRow | null>
}

export type Ending = EndPatch & { status: FinalStatus }

export type SettleDeps = {
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append' | 'signal'>
  hooks: RunHooks
  live: Pick<Live, 'changed' | 'closed'>
}

/** The one way in which a run ends: by its result, by terminate, by the reaper, by age, by its agent's end. */
export function createSettle({ clock, events, hooks, live }: SettleDeps): Settle {
  return {
    async settle(tx, row, from, end) {
      const now = clock.now()
      const startedAt = row.started_at
      const duration_ms =
        end.duration_ms ?? (startedAt === null ? null : Math.max(0, now.getTime() - Date.parse(startedAt)))
      const patch = { ...end, duration_ms, completed_at: timestamp(now) }
      const transcript = transcriptStore(tx)
      const [ended, openTools] = await Promise.all([
        executionStore(tx).end(row, from, patch),
        startedAt === null ? [] : transcript.openTools(row.id),
      ])
      if (!ended) return null
      await events.append(tx, finishedEvent(ended), now)
      await transcript.endTools(row.id, openTools, timestamp(now))
      const tell = async () => {
        for (const hook of hooks.registered.ended) await hook(tx, ended, now)
      }
      await (isOnItsOwn(ended) ? tell() : tx.inTurn(tell))
      tx.onCommitted(() => {
        live.closed(ended.id)
        live.changed(ended.id)
        if (startedAt !== null) events.signal(activitySignal(ended, activityState(end.status)))
      })
      return ended
    },
  }
}

/** Nothing was waiting for its end that could wait for other runs, too. */
function isOnItsOwn(row: ExecutionRow): boolean {
  const { kind, session_id, schedule_id, loop_id, fan_out_id, reminder_id, triggered_by } = row
  const links = [session_id, schedule_id, loop_id, fan_out_id, reminder_id]
  return kind === 'task' && triggered_by !== 'operator_response' && links.every((link) => link === null)
}

function activityState(status: FinalStatus): 'completed' | 'failed' | 'cancelled' {
  if (status === 'success' || status === 'skipped') return 'completed'
  return status
}
