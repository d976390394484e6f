import type { AlertQuery, FleetAlert } from '@roost/contracts/operations/alerts'
import type { AlertKind } from '@roost/contracts/operations/operator-queue'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type Answerer, notPending } from './answer.ts'
import { itemAgent, itemEvent } from './events.ts'
import { type ItemFilter, type ItemRow, operatorQueueStore } from './store.ts'

/** Alerts of the platform, for its operators. */
export type AlertList = {
  /** Alerts about all agents and about none, newest first. */
  list(query: AlertQuery): Promise<FleetAlert[]>
  /** Alerts about one agent, newest first. */
  ofAgent(agentId: string, since: string): Promise<FleetAlert[]>
  /**
   * State of an alert kind for each agent (null: no single agent). Contains agents whose alert is pending, or was
   * raised at `since` or later.
   */
  statesOf(kind: AlertKind, since: string): Promise<Map<string | null, 'pending' | 'resolved'>>
  /** Resolves a pending alert that the caller may see. Throws `not_found`, `item_not_pending`. */
  acknowledge(row: ItemRow, by: Answerer): Promise<FleetAlert>
}

export type AlertListDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'byId'>
  settled(tx: Tx, row: ItemRow): void
}

const maxAlertsOfAgent = 20

export function createAlertList({ db, clock, events, agentRecords, settled }: AlertListDeps): AlertList {
  async function viewOf(row: ItemRow): Promise<FleetAlert[]> {
    const { id, kind, priority, title, question, status, created_at, acknowledged_at } = row
    if (kind === null) return []
    const agent = row.agent_id === null ? null : await agentRecords.byId(row.agent_id)
    return [
      {
        id,
        severity: priority,
        type: kind,
        agent_name: agent?.name ?? null,
        title,
        message: question ?? '',
        status,
        created_at,
        acknowledged_at,
      },
    ]
  }

  async function search(filter: ItemFilter, limit: number): Promise<FleetAlert[]> {
    const page = { limit, offset: 0, order: 'newest' } as const
    const rows = await operatorQueueStore(db).list({ all: true }, { ...filter, source: 'platform' }, page)
    return (await Promise.all(rows.map(viewOf))).flat()
  }

  return {
    list: ({ severity, status, limit }) => search({ priority: severity, status }, limit),
    ofAgent: (agentId, since) => search({ agentId, since }, maxAlertsOfAgent),

    async statesOf(kind, since) {
      const states = new Map<string | null, 'pending' | 'resolved'>()
      for (const { agent_id, status } of await operatorQueueStore(db).raisedSince(kind, since)) {
        if (states.get(agent_id) !== 'pending')
          states.set(agent_id, status === 'pending' ? 'pending' : 'resolved')
      }
      return states
    },

    async acknowledge(row, by) {
      const after = await db.atomically(async (tx) => {
        const now = clock.now()
        const patch = {
          status: 'acknowledged',
          disposition: 'answered',
          acknowledged_at: timestamp(now),
          responded_by_id: by.id,
          responded_by_email: by.email,
          pending_key: null,
        } as const
        if (!(await operatorQueueStore(tx).move(row.id, 'pending', patch))) return null
        const next = { ...row, ...patch }
        await events.append(tx, itemEvent(next, await itemAgent(tx, row.agent_id)), now)
        settled(tx, next)
        return next
      })
      if (!after) throw notPending((await operatorQueueStore(db).byId(row.id)) ?? row)
      const [alert] = await viewOf(after)
      if (!alert) throw new Fault('not_found', 'There is no such alert.')
      return alert
    },
  }
}
