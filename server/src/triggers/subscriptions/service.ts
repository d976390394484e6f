import type {
  AgentEvent,
  CreateEventSubscription,
  EmitEvent,
  EventSubscription,
  UpdateEventSubscription,
} from '@roost/contracts/triggers/events'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import { createSweep, type SweepDeps } from '../../foundation/settings/index.ts'
import { may, type SignedIn } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import { isAdmin, messageReader, type RunHooks } from '../../runs/executions/index.ts'
import { createDeliver, type DeliverDeps } from './deliver.ts'
import { createEmit, type EmitDeps, type EmittingAgent } from './emit.ts'
import { type EventFilter, eventStore } from './event-store.ts'
import { createMatching } from './matching.ts'
import { createSave } from './save.ts'
import { type Direction, type SubscriptionRow, subscriptionStore } from './store.ts'
import { registerTaskEnds } from './task-ends.ts'
import { createViews } from './view.ts'

export type SubscriptionsDeps = DeliverDeps &
  EmitDeps & {
    hooks: Pick<RunHooks, 'onEnded'>
    agentRecords: Pick<AgentRecords, 'byId' | 'byName'>
    agentAccess: Pick<AgentAccess, 'relationTo' | 'accessibleAgents' | 'permittedTargets'>
  }

export type EventQuery = { event_type?: string | undefined; limit: number }

export type Subscriptions = {
  /** Both return after every delivery was made or dropped, and throw as `createEmit` does. */
  emit(caller: SignedIn, request: EmitEvent): Promise<AgentEvent>
  emitAs(caller: SignedIn, agent: EmittingAgent, request: EmitEvent): Promise<AgentEvent>
  /** Events of accessible agents and own events, newest first. */
  events(caller: SignedIn, query: EventQuery & { source_agent?: string | undefined }): Promise<AgentEvent[]>
  eventsOf(caller: SignedIn, agentId: string, query: EventQuery): Promise<AgentEvent[]>
  create(
    caller: SignedIn,
    subscriber: { id: string; name: string },
    request: CreateEventSubscription,
  ): Promise<EventSubscription>
  list(
    caller: SignedIn,
    agentId: string,
    query: { direction: Direction; limit: number },
  ): Promise<EventSubscription[]>
  /** All three throw `not_found` for unknown and inaccessible ids; the last two also `owner_required`. */
  get(caller: SignedIn, id: string): Promise<EventSubscription>
  update(caller: SignedIn, id: string, request: UpdateEventSubscription): Promise<EventSubscription>
  remove(caller: SignedIn, id: string): Promise<void>
  restore: ReturnType<typeof createSave>['restore']
  /** Gives a new agent the subscriptions of another one, disabled. */
  copy: ReturnType<typeof createSave>['copy']
  /** Hook of agent deletion: deletes subscriptions by the agent and to it. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: Loop[]
  /** Resolves when the events of ended tasks are delivered; call it before the database closes. */
  settled(): Promise<void>
}

export function createSubscriptions(deps: SubscriptionsDeps): Subscriptions {
  const { db, agentRecords, agentAccess } = deps
  const store = subscriptionStore(db)
  const matching = createMatching(deps)
  const deliver = createDeliver({ ...deps, matching })
  const emit = createEmit({ ...deps, matching, deliver })
  const save = createSave({ ...deps, matching })
  const views = createViews(deps)
  registerTaskEnds(deps.hooks, deliver)

  async function eventById(caller: SignedIn, id: string): Promise<AgentEvent> {
    const row = await eventStore(db).find(id)
    if (!row) throw new Fault('not_found')
    return views.event(caller, row, await eventStore(db).deliveriesOf([id]))
  }

  async function listEvents(caller: SignedIn, filter: EventFilter, limit: number): Promise<AgentEvent[]> {
    const rows = await eventStore(db).list(filter, limit)
    const deliveries = await eventStore(db).deliveriesOf(rows.map(({ id }) => id))
    const byEvent = Map.groupBy(deliveries, ({ event_id }) => event_id)
    return Promise.all(rows.map((row) => views.event(caller, row, byEvent.get(row.id) ?? [])))
  }

  async function view(caller: SignedIn, row: SubscriptionRow | null): Promise<EventSubscription> {
    const found = row && (await views.subscription(caller, row))
    if (!found) throw new Fault('not_found', 'There is no such subscription.')
    return found
  }

  /** The row, if the caller has the relation `who` to its subscriber. */
  async function find(caller: SignedIn, id: string, who: 'access' | 'owner'): Promise<SubscriptionRow> {
    const row = await store.find(id)
    const subscriber = row && (await agentRecords.byId(row.subscriber_agent_id))
    const relation = subscriber && (await agentAccess.relationTo(caller, subscriber))
    if (!row || !relation) throw new Fault('not_found', 'There is no such subscription.')
    const verdict = may(caller, { who }, relation)
    if ('refuse' in verdict) throw new Fault(verdict.refuse)
    return row
  }

  return {
    restore: save.restore,
    copy: save.copy,
    emit: async (caller, request) => eventById(caller, await emit.asCaller(caller, request)),
    emitAs: async (caller, agent, request) => eventById(caller, await emit.asAgent(caller, agent, request)),

    async events(caller, { event_type, source_agent, limit }) {
      const source =
        source_agent === undefined
          ? undefined
          : { name: source_agent, id: (await agentRecords.byName(source_agent))?.id ?? null }
      const readable = isAdmin(caller)
        ? null
        : {
            agentIds: (await agentAccess.accessibleAgents(caller)).map(({ agent }) => agent.id),
            userId: messageReader(caller).userId,
          }
      return listEvents(caller, { eventType: event_type, source, readable }, limit)
    },

    eventsOf: (caller, agentId, { event_type, limit }) =>
      listEvents(caller, { eventType: event_type, readable: { agentIds: [agentId], userId: null } }, limit),

    create: async (caller, subscriber, request) =>
      view(caller, await save.create(caller, subscriber, request)),

    async list(caller, agentId, { direction, limit }) {
      const rows = await store.ofAgent(agentId, direction, limit)
      const found = await Promise.all(rows.map((row) => views.subscription(caller, row)))
      return found.filter((each) => each !== null)
    },

    get: async (caller, id) => view(caller, await find(caller, id, 'access')),

    async update(caller, id, request) {
      const before = await find(caller, id, 'owner')
      return view(caller, await save.update(caller, before, request))
    },

    async remove(caller, id) {
      await find(caller, id, 'owner')
      await store.remove(id)
    },

    agentDeleted: (tx, agentId) => subscriptionStore(tx).removeOfAgent(agentId),
    loops: [{ name: 'triggers.events', everySeconds: 5, run: (signal) => deliver.all(signal) }],
    settled: deliver.settled,
  }
}

/** Removes old events of agents; undelivered events stay. */
export function eventRetention(deps: SweepDeps): Loop {
  const { db } = deps
  return createSweep(deps, {
    name: 'triggers.event-retention',
    what: 'events of agents',
    key: 'event_retention_days',
    countBefore: (before) => eventStore(db).countDone(before),
    countAll: () => eventStore(db).countAll(),
    removeBefore: (before, limit) => db.atomically((tx) => eventStore(tx).removeDone(before, limit)),
  })
}
