import type { AlertQuery, FleetAlert } from '@roost/contracts/operations/alerts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { aboutIn } from './alerts.ts'
import { type Answerer, notPending } from './answer.ts'
import { itemEvent } from './events.ts'
import { type ItemFilter, type ItemRow, operatorQueueStore } from './store.ts'

export type AlertView = {
  /** Of all agents, the newest first. */
  list(query: AlertQuery): Promise<FleetAlert[]>
  /** Of one agent, since then; the newest first. */
  ofAgent(agentId: string, since: string): Promise<FleetAlert[]>
  /** Takes an alert that its caller was shown off what is pending. Throws `not_found`, `item_not_pending`. */
  acknowledge(row: ItemRow, by: Answerer): Promise<FleetAlert>
}

export type AlertViewDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  agentRecords: Pick<AgentRecords, 'byId'>
  settled(tx: Tx, row: ItemRow): void
}

const mostOfAgent = 20

export function createAlertView({ db, clock, events, agentRecords, settled }: AlertViewDeps): AlertView {
  async function shown(row: ItemRow): Promise<FleetAlert[]> {
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

  async function found(filter: ItemFilter, limit: number): Promise<FleetAlert[]> {
    const page = { limit, offset: 0, order: 'newest' } as const
    const rows = await operatorQueueStore(db).list({ all: true }, { ...filter, source: 'platform' }, page)
    return (await Promise.all(rows.map(shown))).flat()
  }

  return {
    list: ({ severity, status, limit }) => found({ priority: severity, status }, limit),
    ofAgent: (agentId, since) => found({ agentId, since }, mostOfAgent),

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
        await events.append(tx, itemEvent(next, await aboutIn(tx, row.agent_id)), now)
        settled(tx, next)
        return next
      })
      if (!after) throw notPending((await operatorQueueStore(db).byId(row.id)) ?? row)
      const [alert] = await shown(after)
      if (!alert) throw new Fault('not_found', 'There is no such alert.')
      return alert
    },
  }
}
