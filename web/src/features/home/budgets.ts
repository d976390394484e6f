import type { CostLimit } from '@roost/contracts/runs/costs'

/** The share of a limit from which it is shown. */
const nearShare = 0.8

export type Budget = { limit: CostLimit; agent: string; isOver: boolean }

/** The spend caps that are used up or nearly so, the most used first. */
export function usedBudgets(limits: readonly CostLimit[]): Budget[] {
  return limits.flatMap((limit) => {
    const { agent_name: agent, spent_today_usd: spent, daily_usd: daily } = limit
    return agent === null || spent < daily * nearShare ? [] : [{ limit, agent, isOver: spent >= daily }]
  })
}

/** The state of the platform's daily limit; null without one. */
export function platformBudget(
  limits: readonly CostLimit[],
): { limit: CostLimit; tone: 'neutral' | 'warning' | 'danger' } | null {
  const limit = limits.find(({ kind }) => kind === 'platform')
  if (!limit || limit.daily_usd <= 0) return null
  const share = limit.spent_today_usd / limit.daily_usd
  return { limit, tone: share >= 1 ? 'danger' : share >= nearShare ? 'warning' : 'neutral' }
}

/** The UTC day of a time, in which costs and limits are counted. */
export function utcDayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}
