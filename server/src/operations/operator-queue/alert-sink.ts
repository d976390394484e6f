import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'
import type { AlertSink } from '../../foundation/alerts/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Tx } from '../../ports/database/port.ts'
import { itemAgent, itemEvent, newItemEvent } from './events.ts'
import { blankItem } from './rules.ts'
import { alertKey, type ItemRow, operatorQueueStore } from './store.ts'

export type AlertSinkDeps = {
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  /** Called in the transaction that stores a new item. */
  itemAdded(tx: Tx, itemId: string): Promise<void>
}

/** Stores alerts of the platform as items: at most one pending item for each agent and kind, and run if it is per run. */
export function createAlertSink({ clock, events, itemAdded }: AlertSinkDeps): AlertSink {
  return {
    /** Updates the text of a pending alert without a new event. Ignores alerts about deleted agents. */
    async raise(tx, alert) {
      const agent = await itemAgent(tx, alert.agentId)
      if (alert.agentId !== null && !agent) return
      const now = clock.now()
      const row = alertRow(alert, timestamp(now))
      const store = operatorQueueStore(tx)
      if (await store.insert(row)) {
        await itemAdded(tx, row.id)
        return events.append(tx, newItemEvent(row, agent), now)
      }
      const { title, question, priority, context, execution_id } = row
      await store.refreshAlert(keyOf(alert), {
        title,
        question,
        priority,
        context,
        execution_id,
      })
    },

    async clear(tx, agentId, kind) {
      const store = operatorQueueStore(tx)
      const row = await store.pendingAlert(alertKey(agentId, kind))
      if (!row) return
      const patch = {
        status: 'cancelled',
        disposition: 'cancelled',
        disposition_reason: 'The cause is gone.',
        pending_key: null,
      } as const
      if (!(await store.move(row.id, 'pending', patch))) return
      await events.append(tx, itemEvent({ ...row, ...patch }, await itemAgent(tx, agentId)), clock.now())
    },
  }
}

const keyOf = ({ agentId, kind, executionId, isPerRun }: PlatformAlert) =>
  alertKey(agentId, kind, isPerRun ? executionId : undefined)

function alertRow(alert: PlatformAlert, createdAt: string): ItemRow {
  return {
    ...blankItem,
    id: newId(),
    agent_id: alert.agentId,
    type: 'alert',
    kind: alert.kind,
    pending_key: keyOf(alert),
    priority: alert.priority,
    title: alert.title,
    question: alert.question ?? null,
    context: JSON.stringify(alert.context),
    execution_id: alert.executionId ?? null,
    created_at: createdAt,
    source: 'platform',
  }
}
