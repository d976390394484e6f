import type { socketEventTypes } from '@roost/contracts/operations/sockets'
import type { LiveEvent } from './socket.ts'

/** Keys begin with their subject: `['agents', …]` for the fleet, `['agent', name, …]` for one agent. */
export type QueryKey = readonly unknown[]

type EventType = (typeof socketEventTypes)[number]
type Prefix<Type extends string> = Type extends `${infer First}_${infer Rest}`
  ? `${First}_` | `${First}_${Prefix<Rest>}`
  : never
/** An event type, or all types with a prefix, such as `execution_*`. */
export type EventPattern = EventType | `${Prefix<EventType>}*`

/** A key prefix, or how to derive it from the event; null: this event makes nothing stale. */
type StaleKey = QueryKey | ((event: LiveEvent) => QueryKey | null)

const declarations: { patterns: readonly EventPattern[]; keys: readonly StaleKey[] }[] = []

/**
 * Declares the events that make queries with these key prefixes stale. Each `queries.ts` calls it for its own
 * keys, when it is loaded. Before that the feature has no queries in the cache.
 */
export function staleOn(patterns: readonly EventPattern[], ...keys: readonly StaleKey[]): void {
  declarations.push({ patterns, keys })
}

/** Returns the query key prefixes that the loaded features declare for an event, each once. */
export function staleBy(event: LiveEvent): QueryKey[] {
  const stale = declarations
    .filter(({ patterns }) => patterns.some((pattern) => matches(event.type, pattern)))
    .flatMap(({ keys }) => keys.map((key) => (typeof key === 'function' ? key(event) : key)))
    .filter((key) => key !== null)
  return [...new Map(stale.map((key) => [JSON.stringify(key), key])).values()]
}

function matches(type: string, pattern: EventPattern): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern
}

/** The agent's container was started, stopped or lost. */
export const containerEvents = ['agent_started', 'agent_stopped', 'agent_exited'] as const
/** A list of agents changes its rows. A rename and new settings have events of their own. */
export const agentListEvents = [
  ...containerEvents,
  'agent_created',
  'agent_deleted',
  'agent_shared',
  'agent_unshared',
  'agent_label_changed',
  'agent_tags_changed',
  'agent_collaboration',
] as const
export const runEvents = ['execution_*', 'fan_out_completed'] as const

/** The key of the agent that the event is about. */
export function ofAgent(keyOf: (name: string) => QueryKey): (event: LiveEvent) => QueryKey | null {
  return (event) => {
    const name = agentNameIn(event)
    return name === null ? null : keyOf(name)
  }
}

/** The key of the run that the event is about. */
export function ofRun(keyOf: (id: string) => QueryKey): (event: LiveEvent) => QueryKey | null {
  return ({ execution_id: id }) => (typeof id === 'string' ? keyOf(id) : null)
}

/** Like `ofAgent`, for runs with one of these triggers only. */
export function ofAgentWhenTriggeredBy(
  triggers: readonly string[],
  keyOf: (name: string) => QueryKey,
): (event: LiveEvent) => QueryKey | null {
  const keyOfEvent = ofAgent(keyOf)
  return (event) => (triggers.includes(String(event.triggered_by)) ? keyOfEvent(event) : null)
}

/** Lifecycle events name the agent in their data. */
function agentNameIn(event: LiveEvent): string | null {
  if (typeof event.agent_name === 'string') return event.agent_name
  const { data } = event
  if (typeof data === 'object' && data !== null && 'name' in data && typeof data.name === 'string') {
    return data.name
  }
  return null
}
