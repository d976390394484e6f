import type { SpendCap } from '@roost/contracts/runs/spend-caps'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import { dollars, type Spent, spendStore } from '../executions/index.ts'
import { type Caps, dayOf, microsOf, reachedCap } from './rules.ts'
import { spendCapStore } from './store.ts'

type NamedAgent = { id: string; name: string }

export type SpendCaps = {
  view(agent: NamedAgent): Promise<SpendCap>
  /** The daily caps of these agents with today's cost; agents without one are omitted. */
  daily(agents: readonly NamedAgent[]): Promise<DailyCap[]>
  /** Omitted fields stay as they are; null removes a cap. */
  change(
    agent: NamedAgent,
    patch: { daily_usd?: number | null | undefined; per_run_usd?: number | null | undefined },
  ): Promise<SpendCap>
  /** Gives a new agent the caps of another one. */
  copy(tx: Tx, from: string, to: string): Promise<void>
  /**
   * Returns why a run may not send another model request; null when it may. Requests in flight count when
   * they are answered, so concurrent requests may exceed a cap together, once.
   */
  refusal(run: { agentId: string; executionId: string }): Promise<string | null>
}

/** Costs of attempts. They count for the agent that they were forked from. */
export type AttemptSpending = {
  /** The set of a fork; null for every other agent. */
  ofFork(agentId: string): Promise<{ sourceId: string; maxMicros: number; spentMicros: number } | null>
  /** Cost of an agent's forks whose runs are not yet its own. */
  ofSource(agentId: string): Promise<Spent>
}

export type DailyCap = {
  agent_name: string
  daily_usd: number
  spent_today_usd: number
  cost_estimated: boolean
}

const noCaps: Caps = { daily_micros: null, per_run_micros: null }

export function createSpendCaps({
  db,
  clock,
  events,
  attempts,
}: {
  db: Db
  clock: Pick<Clock, 'now'>
  events: Pick<Outbox, 'append'>
  attempts: AttemptSpending
}): SpendCaps {
  async function spentToday(agentId: string): Promise<Spent> {
    const [own, forks] = await Promise.all([
      spendStore(db).ofAgent(agentId, dayOf(clock.now())),
      attempts.ofSource(agentId),
    ])
    return { micros: own.micros + forks.micros, isEstimated: own.isEstimated || forks.isEstimated }
  }

  async function view({ id, name }: NamedAgent): Promise<SpendCap> {
    const [caps, today] = await Promise.all([spendCapStore(db).of(id), spentToday(id)])
    const { daily_micros, per_run_micros } = caps ?? noCaps
    return {
      agent_name: name,
      daily_usd: dollars(daily_micros),
      per_run_usd: dollars(per_run_micros),
      spent_today_usd: today.micros / 1_000_000,
      cost_estimated: today.isEstimated,
    }
  }

  return {
    view,
    async copy(tx, from, to) {
      const caps = await spendCapStore(tx).of(from)
      if (caps) await spendCapStore(tx).put(to, caps, timestamp(clock.now()))
    },
    async daily(agents) {
      const caps = await spendCapStore(db).daily()
      const capped = agents.filter(({ id }) => caps.has(id))
      const today = new Map(
        await Promise.all(capped.map(async ({ id }) => [id, await spentToday(id)] as const)),
      )
      return capped.map(({ id, name }) => ({
        agent_name: name,
        daily_usd: (caps.get(id) ?? 0) / 1_000_000,
        spent_today_usd: (today.get(id)?.micros ?? 0) / 1_000_000,
        cost_estimated: today.get(id)?.isEstimated ?? false,
      }))
    },
    async change(agent, { daily_usd, per_run_usd }) {
      const patch = {
        ...(daily_usd === undefined ? {} : { daily_micros: microsOf(daily_usd) }),
        ...(per_run_usd === undefined ? {} : { per_run_micros: microsOf(per_run_usd) }),
      }
      await db.atomically(async (tx) => {
        await spendCapStore(tx).put(agent.id, patch, timestamp(clock.now()))
        const event = { type: 'agent.settings_changed', agent_names: [agent.name], agent_ids: [agent.id] }
        await events.append(tx, { ...event, fields: { setting: 'spend-cap' } }, clock.now())
      })
      return view(agent)
    },
    async refusal({ agentId, executionId }) {
      const set = await attempts.ofFork(agentId)
      if (set && set.spentMicros >= set.maxMicros)
        return `The attempts have reached their cost cap together: ${of(set.spentMicros, set.maxMicros)}`
      const payerId = set?.sourceId ?? agentId
      const caps = await spendCapStore(db).of(payerId)
      if (!caps) return null
      const [run, today] = await Promise.all([
        caps.per_run_micros === null ? 0 : spendStore(db).ofRun(executionId),
        caps.daily_micros === null ? 0 : spentToday(payerId).then(({ micros }) => micros),
      ])
      switch (reachedCap(caps, { run, today })) {
        case 'run':
          return `This run has reached the agent's spend cap per run: ${of(run, caps.per_run_micros)}`
        case 'daily':
          return `The agent has reached its daily spend cap: ${of(today, caps.daily_micros)}`
        case null:
          return null
      }
    },
  }
}

/** States the figure the cap acts on: the runtime's own count in the transcript may differ. */
function of(spent: number, cap: number | null): string {
  return `${dollars(spent)} of ${dollars(cap)} USD. Caps act on the cost booked by Roost, estimates included.`
}
