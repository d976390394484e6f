import { agentStatuses } from '@roost/contracts/agents/agent'
import { Gauge, Registry } from 'prom-client'
import type { Counts } from './store.ts'

/** State of the platform at one moment. */
export type Snapshot = {
  /** Milliseconds since 1970. */
  now: number
  counts: Counts
  agents: readonly { status: string }[]
  links: number
  slots: number
  socketClients: number
}

export type Figures = {
  /** In the text format of Prometheus. */
  page(snapshot: Snapshot): Promise<{ contentType: string; text: string }>
}

/** Names and help texts of all figures. */
export function createFigures(): Figures {
  const registry = new Registry()
  const registers = [registry]
  const gauge = <const L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name: `roost_${name}`, help, labelNames, registers })

  const agentsBy = gauge('agents', 'Agents by status.', ['status'])
  const linked = gauge('agent_links', 'Agents whose program is connected.')
  const runs = gauge('executions_last_day', 'Runs created in the last 24 hours.', ['status', 'trigger'])
  const queued = gauge('queue_length', 'Runs that wait for a slot.')
  const waited = gauge('queue_oldest_seconds', 'Waiting time of the oldest run in the queue.')
  const used = gauge('slots_used', 'Runs that hold a slot.')
  const allSlots = gauge('slots', 'Slots of all agents.')
  const lease = gauge(
    'lease_shortest_seconds',
    'Time until the first lease of a run ends; negative when its agent is lost.',
  )
  const pending = gauge('outbox_pending', 'Events without a position.')
  const lag = gauge('outbox_lag_seconds', 'Age of the oldest event without a position.')
  const checkAge = gauge('scheduler_check_age_seconds', 'Time since the last check of the leading scheduler.')
  const overdue = gauge('scheduler_overdue_seconds', 'Delay of the next due fire; 0 when none is due.')
  const sockets = gauge('socket_clients', 'Open live sockets of this process.')
  const tokens = gauge('broker_tokens_last_day', 'Tokens of the runs created in the last 24 hours.', ['kind'])
  const cost = gauge('broker_cost_usd_last_day', 'Cost of these runs in US dollars.')

  function setGauges({ now, counts, agents, links, slots, socketClients }: Snapshot): void {
    const secondsSince = (at: string | null) => (at === null ? 0 : (now - Date.parse(at)) / 1000)
    for (const status of agentStatuses)
      agentsBy.set({ status }, agents.filter((agent) => agent.status === status).length)
    linked.set(links)
    // Removes label combinations that no run has now.
    runs.reset()
    for (const { status, triggered_by, count } of counts.runs)
      runs.set({ status, trigger: triggered_by }, count)
    queued.set(counts.queued.count)
    waited.set(secondsSince(counts.queued.oldest))
    used.set(counts.running.count)
    allSlots.set(slots)
    lease.set(-secondsSince(counts.running.firstLeaseEnds))
    pending.set(counts.outbox.count)
    lag.set(secondsSince(counts.outbox.oldest))
    checkAge.set(secondsSince(counts.scheduler?.checked_at ?? null))
    overdue.set(Math.max(0, secondsSince(counts.scheduler?.next_due_at ?? null)))
    sockets.set(socketClients)
    for (const [kind, count] of Object.entries(counts.tokens))
      tokens.set({ kind: kind.replace('_tokens', '') }, count)
    cost.set(counts.costMicros / 1_000_000)
  }

  return {
    async page(snapshot) {
      setGauges(snapshot)
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}
