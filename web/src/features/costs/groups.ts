import type { CostGrouping, CostLimit, Costs } from '@roost/contracts/runs/costs'
import type { ChartSeries } from '../../ui/charts/chart-data.ts'
import { knownTrigger, triggerChoices } from '../executions/words.ts'
import type { Days } from './period.ts'

export type CostGroup = Costs['groups'][number]

export const groupings = [
  { value: 'agent', label: 'Agent' },
  { value: 'model', label: 'Model' },
  { value: 'person', label: 'Person' },
  { value: 'trigger', label: 'Trigger' },
  { value: 'tag', label: 'Tag' },
] as const satisfies readonly { value: CostGrouping; label: string }[]

export function groupingOf(text: string | undefined): CostGrouping {
  return groupings.find(({ value }) => value === text)?.value ?? 'agent'
}

export function labelOf(by: CostGrouping, group: Pick<CostGroup, 'key' | 'label'>): string {
  const trigger = by === 'trigger' ? knownTrigger(group.key ?? undefined) : null
  return triggerChoices.find(({ value }) => value === trigger)?.label ?? group.label
}

/** The search parameters of the list of a group's runs; null for the group of the others. */
export function runsOf(
  by: CostGrouping,
  { key }: Pick<CostGroup, 'key'>,
  { from, to, agent }: Days & { agent?: string | undefined },
) {
  if (key === null) return null
  return { from, to, ...(agent ? { agent } : {}), [by]: key }
}

/** Groups with a series of their own. The palette has one more colour, for the others. */
const ownSeries = 5

/** The chart: the most expensive groups, and the others together. Series have the position of their group as id. */
export function chartOf({ group_by, groups, days }: Pick<Costs, 'group_by' | 'groups' | 'days'>) {
  const own = groups.slice(0, ownSeries).filter(({ kind }) => kind !== 'rest')
  const hasOthers = groups.length > own.length
  const series: ChartSeries[] = own.map((group, index) => ({
    id: String(index),
    label: labelOf(group_by, group),
  }))
  if (hasOthers) series.push({ id: 'others', label: 'Other', tone: 'muted' })
  return {
    series,
    points: days.map(({ date, by_group }) => ({
      date,
      values: {
        ...Object.fromEntries(own.map((_, index) => [String(index), by_group[index] ?? 0])),
        ...(hasOthers ? { others: by_group.slice(own.length).reduce((sum, cost) => sum + cost, 0) } : {}),
      },
    })),
  }
}

/** A limit far above all bars would flatten them. */
const maxTimesHighest = 4

/**
 * The daily limit that applies to each bar as a whole: of the platform for all agents, of the agent for one. Null when
 * there is none, or when bars count the same run more than once.
 */
export function limitOf(
  { limits, overlaps, days }: Pick<Costs, 'limits' | 'overlaps' | 'days'>,
  agent: string | undefined,
): { limit: CostLimit; isInChart: boolean } | null {
  const limit = limits.find(({ kind, agent_name }) =>
    agent === undefined ? kind === 'platform' : agent_name === agent,
  )
  if (!limit || overlaps) return null
  const highest = days.reduce((most, { cost }) => Math.max(most, cost), 0)
  return { limit, isInChart: limit.daily_usd <= highest * maxTimesHighest }
}
