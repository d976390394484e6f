import type { FieldsOf } from '@roost/contracts/kit/event'
import { redactText } from '@roost/contracts/kit/redact'
import { type agentEventEmitted, type DropReason, dropReasons } from '@roost/contracts/triggers/events'
import { createFollowUps } from '../../background/follow-ups.ts'
import type { NewEvent, Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { isFault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { type Dispatch, type RunContext, type RunContexts, readSource } from '../../runs/dispatch/index.ts'
import { maskText } from '../../runs/transcripts/index.ts'
import { type DeliveryRow, type EventRow, eventStore } from './event-store.ts'
import type { Match, Matching } from './matching.ts'
import { filledMessage } from './rules.ts'
import { type SubscriptionRow, subscriptionStore } from './store.ts'

export type DeliverDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  events: Pick<Outbox, 'append'>
  dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  secrets: RunContexts['secrets']
}

/** Open events of one pass. */
const maxPerPass = 100

/**
 * Wakes the agents that an event matches, each once. The matches are stored first, and each delivery is claimed in
 * the transaction that accepts its run. A pass completes what a killed process left undone.
 */
export function createDeliver(deps: DeliverDeps & { matching: Matching }) {
  const { db, clock, log, events, dispatch, matching } = deps
  const logFailure = (id: string, error: unknown) =>
    log.warn({ err: error, event_id: id }, 'an event was not delivered; it is retried')
  const followUps = createFollowUps({ look: deliver, failed: logFailure })

  /** Stores the matches of an event; false if another process has stored them. */
  async function match(tx: Tx, event: EventRow, matches: readonly Match[]): Promise<boolean> {
    const store = eventStore(tx)
    if (!(await store.matched(event.id, matches.length))) return false
    await store.addDeliveries(matches.map((each) => deliveryOf(event, each)))
    await events.append(tx, emittedEvent(event, matches.length), clock.now())
    return true
  }

  /** Matches the end of a task, after its commit. */
  async function matchTask(event: EventRow): Promise<void> {
    const matches = await matching.ofTask(event.event_type, event.source_agent_id ?? '')
    await db.atomically(async (tx) => {
      if (matches.length > 0) await match(tx, event, matches)
      // The listeners have lost permission to call the source.
      else await eventStore(tx).remove(event.id)
    })
  }

  async function deliver(id: string): Promise<void> {
    const event = await eventStore(db).find(id)
    if (!event) return
    if (event.subscriptions_triggered === null) await matchTask(event)
    const failures: unknown[] = []
    for (const delivery of await eventStore(db).deliveriesOf([id])) {
      if (delivery.state !== 'pending') continue
      // A failure must not keep the event from the other subscribers.
      await wake(event, delivery).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Null if it was deleted or disabled after the match, or may no longer listen to the source. */
  async function present(event: EventRow, subscriptionId: string): Promise<SubscriptionRow | null> {
    const subscription = await subscriptionStore(db).find(subscriptionId)
    if (subscription?.enabled !== 1) return null
    const { source_agent_id: source } = event
    const isPermitted =
      source === null || (await matching.mayListen(subscription.subscriber_agent_id, source))
    return isPermitted ? subscription : null
  }

  async function wake(event: EventRow, delivery: DeliveryRow): Promise<void> {
    const subscription = await present(event, delivery.subscription_id)
    try {
      const agent = await dispatch.checkAgent(delivery.agent_id)
      if (!subscription) return await drop(delivery, 'agent_not_permitted')
      const message = await messageOf(event, subscription)
      await dispatch.transaction((tx) => accept(tx, { event, delivery, agent, message }))
    } catch (error) {
      const reason = dropReasons.find((each) => isFault(error, each))
      if (!reason) throw error
      await drop(delivery, reason)
    }
  }

  async function accept(
    tx: Tx,
    what: { event: EventRow; delivery: DeliveryRow; agent: RunContext; message: string },
  ): Promise<void> {
    const { event, delivery, agent, message } = what
    if (!(await eventStore(tx).claim(delivery))) return
    const { row } = await dispatch.enqueue(tx, agent, {
      agentId: agent.id,
      kind: 'task',
      triggeredBy: 'event',
      message,
      source: readSource(event.source),
      chainDepth: event.chain_depth + 1,
    })
    await eventStore(tx).outcome(delivery, { execution_id: row.id })
    await subscriptionStore(tx).triggered(delivery.subscription_id, timestamp(clock.now()))
  }

  async function drop(delivery: DeliveryRow, dropped: DropReason): Promise<void> {
    await db.atomically(async (tx) => {
      if (await eventStore(tx).claim(delivery)) await eventStore(tx).outcome(delivery, { dropped })
    })
  }

  /** Masks secrets of both agents and text that looks like a secret. */
  async function messageOf(event: EventRow, subscription: SubscriptionRow): Promise<string> {
    const ids = [event.source_agent_id, subscription.subscriber_agent_id].filter((id) => id !== null)
    const secrets = (await Promise.all(ids.map((id) => deps.secrets(id)))).flat()
    const payload: unknown = event.payload === null ? {} : JSON.parse(event.payload)
    const { event_type, source_agent } = event
    return filledMessage(subscription.target_message, { event_type, source_agent, payload }, (text) =>
      redactText(maskText(text, secrets)),
    )
  }

  return {
    match,
    /** Delivers now; the pass retries a failure. */
    now: (id: string): Promise<void> => deliver(id).catch((error: unknown) => logFailure(id, error)),
    /** Delivers after a commit. */
    soon: followUps.soon,
    settled: followUps.settled,
    async all(signal: AbortSignal): Promise<void> {
      for (const id of await eventStore(db).open(maxPerPass)) {
        if (signal.aborted) return
        await deliver(id).catch((error: unknown) => logFailure(id, error))
      }
    },
  }
}

export type Deliver = ReturnType<typeof createDeliver>

function deliveryOf(event: EventRow, { subscription, subscriber }: Match): DeliveryRow {
  return {
    event_id: event.id,
    subscription_id: subscription.id,
    agent_id: subscriber.id,
    agent_name: subscriber.name,
    state: 'pending',
    execution_id: null,
    dropped: null,
  }
}

/** Visible to those with access to the source. A person's event names no agent, so it is visible to admins only. */
function emittedEvent(event: EventRow, triggered: number): NewEvent {
  const { source_agent, source_agent_id, event_type } = event
  const fields: FieldsOf<typeof agentEventEmitted> = {
    event_id: event.id,
    source_agent,
    event_type,
    subscriptions_triggered: triggered,
  }
  if (source_agent_id === null) {
    return { type: 'agent.event', agent_names: [], agent_ids: [], audience: 'admin', fields }
  }
  return { type: 'agent.event', agent_names: [source_agent], agent_ids: [source_agent_id], fields }
}
