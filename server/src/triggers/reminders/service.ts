import type { DueReminder } from '@roost/contracts/triggers/firing'
import { type CreateReminder, type Reminder, reminderStatuses } from '@roost/contracts/triggers/reminders'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import {
  createdResourceGone,
  type Idempotency,
  type Reply,
  scopeOf,
} from '../../foundation/idempotency/index.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { type AccessEnd, principalOn, type SignedIn } from '../../identity/access/index.ts'
import { type Clock, secondsLater, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import { holderOf, readSource } from '../../runs/dispatch/index.ts'
import { messageReader, offered } from '../../runs/executions/index.ts'
import { type CreateDeps, createCreate } from './create.ts'
import { createDeliver, type DeliverDeps } from './deliver.ts'
import { createFire, type FireDeps } from './fire.ts'
import { viewOf } from './rules.ts'
import { type ReminderRow, reminderStore } from './store.ts'

export type RemindersDeps = CreateDeps &
  FireDeps &
  DeliverDeps & {
    clock: Clock
    idempotency: Pick<Idempotency, 'enter'>
    agentRecords: Pick<AgentRecords, 'byId'>
  }

const soonSeconds = 60

/** The agent whose reminders they are. */
export type RemindedAgent = { id: string; name: string }

type Party = { caller: SignedIn; agent: RemindedAgent }

export type Reminders = {
  /** Sets a reminder once per idempotency key; without a key, see `createCreate`. */
  set(party: Party, request: CreateReminder, key: string | undefined): Promise<Reply & { replayed: boolean }>
  /** Soonest first; `status` is a status or `all`. Throws `unknown_filter`. */
  list(party: Party, query: { status: string; limit: number }): Promise<Reminder[]>
  /** May be repeated. Throws `not_found`, `already_finished`. */
  cancel(party: Party, id: string): Promise<Reminder>
  /** Pending reminders of the next minute, soonest first, with overdue ones of agents without autonomy. */
  due(limit: number): Promise<DueReminder[]>
  /** Hook of agent deletion. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  /** Cancels the pending reminders that these principals set. */
  accessEnded(tx: Tx, end: AccessEnd): Promise<void>
  loops: Loop[]
  /** Resolves when the results of ended runs are delivered; call it before the database closes. */
  settled(): Promise<void>
}

export function createReminders(deps: RemindersDeps): Reminders {
  const { db, clock, agentRecords, idempotency } = deps
  const store = reminderStore(db)
  const create = createCreate(deps)
  const fireDue = createFire(deps)
  const deliver = createDeliver(deps)

  /** Only reminders of the owner's turns have a conversation; people with a share do not see which one. */
  async function stateOf({ agent, caller }: Party) {
    const record = await agentRecords.byId(agent.id)
    const isAgent =
      caller.kind === 'key' &&
      caller.key.scope === 'agent' &&
      caller.key.agent_id === agent.id &&
      caller.run?.reach !== 'shared'
    const { readsAll, userId } = messageReader(caller)
    const isOwner = userId !== null && userId === record?.owner_id
    return {
      agentName: agent.name,
      isAutonomous: record?.autonomy_enabled ?? false,
      namesOrigin: isAgent || isOwner || readsAll,
      now: clock.now(),
    }
  }

  async function view(party: Party, row: ReminderRow): Promise<Reminder> {
    return viewOf(row, await stateOf(party))
  }

  /** A repeated request must not return `pending` for a reminder that will not fire. */
  async function refuseDeleted(id: string | undefined): Promise<void> {
    if (id === undefined) return
    const row = await store.find(id)
    const was = row ? row.status === 'cancelled' && 'cancelled' : 'deleted'
    if (was) throw createdResourceGone(`The reminder that this request created was ${was}.`)
  }

  return {
    async set(party, request, key) {
      const { agent } = party
      const state = await stateOf(party)
      const reply = (row: ReminderRow): Reply => ({ status: 201, body: viewOf(row, state) })
      const scope = scopeOf('reminder', `${agent.id}:${holderOf(party.caller)}`, key, request)
      const entered = await idempotency.enter(scope, (claim) =>
        create(party, request, {
          hasKey: scope !== null,
          within: (tx, row) => claim.take(tx, { resource_id: row.id }, reply(row)),
        }),
      )
      if (entered.replay) {
        await refuseDeleted(entered.replay.resourceId)
        return { ...entered.replay, replayed: true }
      }
      const { row, isNew } = entered.accepted
      return { ...reply(row), replayed: !isNew }
    },

    async list(party, { status, limit }) {
      const filter = offered('status', status, [...reminderStatuses, 'all'])
      const rows = await store.list(party.agent.id, filter === 'all' || !filter ? null : filter, limit)
      const state = await stateOf(party)
      return rows.map((row) => viewOf(row, state))
    },

    async cancel(party, id) {
      const before = await store.find(id)
      if (before?.agent_id !== party.agent.id) throw new Fault('not_found', 'There is no such reminder.')
      const cancelled = await store.cancel(id, timestamp(clock.now()))
      if (cancelled) return view(party, cancelled)
      const now = await store.find(id)
      if (now?.status !== 'cancelled') {
        throw new Fault('already_finished', `The reminder is ${now?.status ?? 'gone'}.`)
      }
      return view(party, now)
    },

    async due(limit) {
      const soon = timestamp(secondsLater(clock.now(), soonSeconds))
      const rows = await store.due(soon, limit, null)
      return Promise.all(
        rows.map(async ({ id, agent_id, fire_at, fire_attempts }) => {
          const agent_name = (await agentRecords.byId(agent_id))?.name ?? ''
          return { id, agent_id, agent_name, fire_at, fire_attempts }
        }),
      )
    },

    agentDeleted: (tx, agentId) => reminderStore(tx).removeOfAgent(agentId),
    async accessEnded(tx, { agent, isOf, reason, now }) {
      const inTx = reminderStore(tx)
      for (const { id, agent_id, source } of await inTx.pendingOf(agent.id)) {
        if (isOf(principalOn(agent_id, readSource(source).principal)))
          await inTx.cancel(id, timestamp(now), reason)
      }
    },
    loops: [
      { name: 'triggers.reminders', everySeconds: 2, run: fireDue },
      { name: 'triggers.reminder-results', everySeconds: 2, run: (signal) => deliver.all(signal) },
    ],
    settled: deliver.settled,
  }
}

/** Removes old reminders that fired, were cancelled or failed. */
export function reminderRetention(deps: SweepDeps): Loop {
  const store = reminderStore(deps.db)
  return createSweep(deps, {
    name: 'triggers.reminder-retention',
    what: 'reminders',
    key: 'agent_reminders_retention_days',
    countBefore: store.countOver,
    countAll: store.countAll,
    removeBefore: store.removeOver,
  })
}
