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
   * Ends a run in the open transaction: its row, its event, and the hooks of other features. Returns null
   * without any change when the row no longer matches `from`.
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
  live: Pick<Live, 'ended' | 'closed'>
}

/** The only way in which runs end: by result, termination, reaper, queue age, or the end of their agent. */
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
      const runHooks = async () => {
        for (const hook of hooks.registered.ended) await hook(tx, ended, now)
      }
      await (isIndependent(ended) ? runHooks() : tx.inTurn(runHooks))
      tx.onCommitted(() => {
        live.closed(ended.id)
        live.ended(ended.id)
        if (startedAt !== null) events.signal(activitySignal(ended, activityState(end.status)))
      })
      return ended
    },
  }
}

/** True when no other feature waits for this run together with other runs. */
function isIndependent(row: ExecutionRow): boolean {
  const { kind, session_id, schedule_id, loop_id, fan_out_id, reminder_id, triggered_by } = row
  const links = [session_id, schedule_id, loop_id, fan_out_id, reminder_id]
  return kind === 'task' && triggered_by !== 'operator_response' && links.every((link) => link === null)
}

function activityState(status: FinalStatus): 'completed' | 'failed' | 'cancelled' {
  if (status === 'success' || status === 'skipped') return 'completed'
  return status
}
