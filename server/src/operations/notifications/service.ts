import {
  mostNotificationsKept,
  type Notification,
  type NotificationBody,
  type NotificationStatus,
  type NotificationsQuery,
} from '@roost/contracts/operations/notifications'
import { type AgentAccess, accessibleAgentNames } from '../../agents/access/index.ts'
import { agentStore } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type RateLimits, rateRules } from '../../foundation/rate-limits/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { type NotificationFilter, type NotificationRow, notificationStore } from './store.ts'

export type NotificationsDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  limits: Pick<RateLimits, 'use'>
  agentAccess: Pick<AgentAccess, 'accessibleAgents'>
}

type Filter = NotificationFilter & { agent_name?: string | undefined }

export type Notifications = {
  /** Throws `rate_limited`, and `agent_not_found` for a just deleted agent. */
  send(agentId: string, body: NotificationBody): Promise<Notification>
  list(caller: SignedIn, query: NotificationsQuery): Promise<{ notifications: Notification[]; total: number }>
  count(caller: SignedIn, filter: Filter): Promise<number>
  /** Changes only a pending notification. Throws `not_found`. */
  acknowledge(caller: SignedIn, id: string): Promise<Notification>
  /** Throws `not_found`. */
  dismiss(caller: SignedIn, id: string): Promise<Notification>
  /** Dismisses those of the named agent, else of all accessible agents. Returns their number. */
  dismissAll(caller: SignedIn, agentName: string | undefined): Promise<number>
  loops: Loop[]
}

/** Rows per delete. Deletes are short, because they block all other writers on SQLite. */
const batchSize = 500

export function createNotifications(deps: NotificationsDeps): Notifications {
  const { db, clock, events, limits, agentAccess } = deps
  const store = notificationStore(db)

  async function visible(caller: SignedIn, id: string): Promise<{ row: NotificationRow; name: string }> {
    const [row, names] = await Promise.all([store.byId(id), accessibleAgentNames(agentAccess, caller)])
    const name = row ? names.get(row.agent_id) : undefined
    if (!row || name === undefined) throw new Fault('not_found', 'There is no such notification.')
    return { row, name }
  }

  function cleared(tx: Tx, agent: { id: string; name: string }, count: number): Promise<void> {
    const about = { agent_names: [agent.name], agent_ids: [agent.id] }
    return events.append(tx, { type: 'notifications.cleared', ...about, fields: { count } }, clock.now())
  }

  /** Of concurrent callers one changes the status; the others get its result. */
  async function move(
    caller: SignedIn,
    id: string,
    from: readonly NotificationStatus[],
    patch: Parameters<typeof store.move>[2],
  ): Promise<Notification> {
    const { row, name } = await visible(caller, id)
    const isMoved = await db.atomically(async (tx) => {
      if (!(await notificationStore(tx).move(id, from, patch))) return false
      await cleared(tx, { id: row.agent_id, name }, 1)
      return true
    })
    if (isMoved) return viewOf({ ...row, ...patch }, name)
    return viewOf((await store.byId(id)) ?? row, name)
  }

  return {
    async send(agentId, body) {
      await limits.use(rateRules.notification, agentId)
      const now = clock.now()
      const row = newRow(agentId, body, timestamp(now))
      const { id: notification_id, notification_type, title, priority, category } = row
      const name = await db.atomically(async (tx) => {
        const agent = await agentStore(tx).byId(agentId)
        if (!agent) throw new Fault('agent_not_found')
        await notificationStore(tx).insert(row)
        const about = { agent_names: [agent.name], agent_ids: [agentId] }
        const fields = { notification_id, notification_type, title, priority, category }
        await events.append(tx, { type: 'agent.notification', ...about, fields }, now)
        return agent.name
      })
      return viewOf(row, name)
    },

    async list(caller, { agent_name, limit, offset, ...filter }) {
      const names = await accessibleAgentNames(agentAccess, caller, agent_name)
      const ids = [...names.keys()]
      const [rows, total] = await Promise.all([
        store.list(ids, filter, { limit, offset }),
        store.count(ids, filter),
      ])
      const notifications = rows.map((row) => viewOf(row, names.get(row.agent_id) ?? ''))
      return { notifications, total }
    },

    async count(caller, { agent_name, ...filter }) {
      const names = await accessibleAgentNames(agentAccess, caller, agent_name)
      return store.count([...names.keys()], filter)
    },

    acknowledge: (caller, id) =>
      move(caller, id, ['pending'], {
        status: 'acknowledged',
        acknowledged_at: timestamp(clock.now()),
        acknowledged_by: caller.user.username,
      }),

    dismiss: (caller, id) => move(caller, id, ['pending', 'acknowledged'], { status: 'dismissed' }),

    async dismissAll(caller, agentName) {
      const names = await accessibleAgentNames(agentAccess, caller, agentName)
      if (agentName !== undefined && names.size === 0) throw new Fault('agent_not_found')
      return db.atomically(async (tx) => {
        const counts = await notificationStore(tx).dismissAll([...names.keys()])
        // One event per agent, so that viewers hear only of agents they can access.
        for (const [id, count] of counts) await cleared(tx, { id, name: names.get(id) ?? '' }, count)
        return [...counts.values()].reduce((sum, count) => sum + count, 0)
      })
    },

    loops: [
      {
        name: 'notifications.bound',
        everySeconds: 3600,
        async run(signal) {
          for (const agentId of await store.agentsAbove(mostNotificationsKept)) {
            for (let more = true; more && !signal.aborted; ) {
              const count = await store.removeBeyond(agentId, mostNotificationsKept, batchSize)
              more = count === batchSize
            }
          }
        },
      },
    ],
  }
}

function viewOf(row: NotificationRow, agentName: string): Notification {
  const { agent_id: _, metadata, ...rest } = row
  // This feature wrote the JSON.
  return { ...rest, agent_name: agentName, metadata: metadata === null ? null : JSON.parse(metadata) }
}

function newRow(agentId: string, body: NotificationBody, createdAt: string): NotificationRow {
  const { notification_type, title, message, priority, category, metadata } = body
  return {
    id: newId(),
    agent_id: agentId,
    notification_type,
    title,
    message,
    priority,
    category,
    metadata: metadata === null ? null : JSON.stringify(metadata),
    status: 'pending',
    created_at: createdAt,
    acknowledged_at: null,
    acknowledged_by: null,
  }
}
