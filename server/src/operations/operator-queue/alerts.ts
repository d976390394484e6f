import type { AlertKind, PlatformAlert } from '@roost/contracts/operations/operator-queue'
import { agentStore } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type AboutAgent, itemEvent, newItemEvent } from './events.ts'
import { alertKey, type ItemRow, operatorQueueStore } from './store.ts'

/** For every feature of the platform; areas to the left take the two as ports. */
export type Alerts = {
  /**
   * Tells operators, in the transaction that finds the cause. While the same kind is pending for the agent its
   * words are brought up to date and nobody is told again. Nothing for an agent that is gone.
   */
  raiseAlert(tx: Tx, alert: PlatformAlert): Promise<void>
  /** The cause is gone: a pending alert is withdrawn. */
  clearAlert(tx: Tx, agentId: string | null, kind: AlertKind): Promise<void>
  /** Agents (null: none in particular) of which an alert is pending, or was raised at `since` or later. */
  told(kind: AlertKind, since: string): Promise<Map<string | null, 'pending' | 'over'>>
}

export type AlertsDeps = { db: Db; clock: Pick<Clock, 'now'>; events: Pick<Outbox, 'append'> }

export function createAlerts({ db, clock, events }: AlertsDeps): Alerts {
  return {
    async raiseAlert(tx, alert) {
      const agent = await aboutIn(tx, alert.agentId)
      if (alert.agentId !== null && !agent) return
      const now = clock.now()
      const row = alertRow(alert, timestamp(now))
      const store = operatorQueueStore(tx)
      if (await store.insert(row)) return events.append(tx, newItemEvent(row, agent), now)
      const { title, question, priority, context, execution_id } = row
      await store.refreshAlert(alertKey(alert.agentId, alert.kind), {
        title,
        question,
        priority,
        context,
        execution_id,
      })
    },

    async clearAlert(tx, agentId, kind) {
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
      await events.append(tx, itemEvent({ ...row, ...patch }, await aboutIn(tx, agentId)), clock.now())
    },

    async told(kind, since) {
      const told = new Map<string | null, 'pending' | 'over'>()
      for (const { agent_id, status } of await operatorQueueStore(db).raisedSince(kind, since)) {
        if (told.get(agent_id) !== 'pending') told.set(agent_id, status === 'pending' ? 'pending' : 'over')
      }
      return told
    },
  }
}

/** Null: about no agent, or one that is gone. */
export async function aboutIn(tx: Tx, agentId: string | null): Promise<AboutAgent> {
  if (agentId === null) return null
  return (await agentStore(tx).byId(agentId)) ?? null
}

const titleLength = 300
const questionLength = 4000

function alertRow(alert: PlatformAlert, at: string): ItemRow {
  return {
    ...blankItem,
    id: newId(),
    agent_id: alert.agentId,
    type: 'alert',
    kind: alert.kind,
    pending_key: alertKey(alert.agentId, alert.kind),
    priority: alert.priority,
    title: cut(alert.title, titleLength),
    question: alert.question === undefined ? null : cut(alert.question, questionLength),
    context: JSON.stringify(alert.context),
    execution_id: alert.executionId ?? null,
    created_at: at,
    source: 'platform',
  }
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1).toWellFormed()}…` : text
}

/** What an item has none of when it is made. */
export const blankItem = {
  request_id: null,
  kind: null,
  pending_key: null,
  status: 'pending',
  question: null,
  options: '[]',
  proposal: null,
  execution_id: null,
  addressed_to_email: null,
  expires_at: null,
  response: null,
  response_text: null,
  responded_by_id: null,
  responded_by_email: null,
  responded_at: null,
  acknowledged_at: null,
  disposition: null,
  disposition_reason: null,
  batch_id: null,
  entry_now: null,
  resume: 'none',
  cleared_at: null,
} as const satisfies Partial<ItemRow>
