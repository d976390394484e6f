import { agentStatuses } from '@roost/contracts/agents/agent'
import { Gauge, Registry } from 'prom-client'
import type { Counted } from './store.ts'

/** What is known of the platform at one moment. */
export type Look = {
  /** Milliseconds since 1970. */
  now: number
  counted: Counted
  agents: readonly { status: string }[]
  links: number
  slots: number
  socketClients: number
}

export type Figures = {
  /** As Prometheus reads them. */
  page(look: Look): Promise<{ contentType: string; text: string }>
}

/** The names of the figures, and what each means. */
export function createFigures(): Figures {
  const registry = new Registry()
  const registers = [registry]
  const gauge = <const L extends string = never>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge<L>({ name: `roost_${name}`, help, labelNames, registers })

  const agentsBy = gauge('agents', 'Agents by status.', ['status'])
  const linked = gauge('agent_links', 'Agents whose program is connected.')
  const runs = gauge('executions_last_day', 'Runs begun in the last 24 hours.', ['status', 'trigger'])
  const queued = gauge('queue_length', 'Runs that wait for a slot.')
  const waited = gauge('queue_oldest_seconds', 'How long the oldest of them has waited.')
  const used = gauge('slots_used', 'Runs that hold a slot.')
  const allSlots = gauge('slots', 'Slots of all agents together.')
  const lease = gauge(
    'lease_shortest_seconds',
    'Until the first lease of a run ends; below 0: its agent is gone.',
  )
  const pending = gauge('outbox_pending', 'Events that no relay has taken up.')
  const lag = gauge('outbox_lag_seconds', 'Age of the oldest of them.')
  const looked = gauge('scheduler_check_age_seconds', 'Since the leading scheduler looked last.')
  const overdue = gauge('scheduler_overdue_seconds', 'How late the next due fire is; 0: it is not due.')
  const sockets = gauge('socket_clients', 'Live sockets of this process.')
  const tokens = gauge('broker_tokens_last_day', 'Tokens of the runs begun in the last 24 hours.', ['kind'])
  const cost = gauge('broker_cost_usd_last_day', 'What they have cost, US dollars.')

  function take({ now, counted, agents, links, slots, socketClients }: Look): void {
    const secondsSince = (at: string | null) => (at === null ? 0 : (now - Date.parse(at)) / 1000)
    for (const status of agentStatuses)
      agentsBy.set({ status }, agents.filter((agent) => agent.status === status).length)
    linked.set(links)
    // A combination that is no more must not keep its last figure.
    runs.reset()
    for (const { status, triggered_by, count } of counted.runs)
      runs.set({ status, trigger: triggered_by }, count)
    queued.set(counted.queued.count)
    waited.set(secondsSince(counted.queued.oldest))
    used.set(counted.running.count)
    allSlots.set(slots)
    lease.set(-secondsSince(counted.running.firstLeaseEnds))
    pending.set(counted.outbox.count)
    lag.set(secondsSince(counted.outbox.oldest))
    looked.set(secondsSince(counted.scheduler?.checked_at ?? null))
    overdue.set(Math.max(0, secondsSince(counted.scheduler?.next_due_at ?? null)))
    sockets.set(socketClients)
    for (const [kind, count] of Object.entries(counted.tokens))
      tokens.set({ kind: kind.replace('_tokens', '') }, count)
    cost.set(counted.costMicros / 1_000_000)
  }

  return {
    async page(look) {
      take(look)
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}
