import { csvRow } from '@roost/contracts/kit/csv'
import {
  type CostGrouping,
  type CostLimit,
  type Costs,
  maxCostDays,
  maxCostGroups,
} from '@roost/contracts/runs/costs'
import { spansBetween } from '../../kit/calendar.ts'
import { Fault } from '../../kit/fault.ts'

/** Costs are in micro-dollars. `estimated` 1: a part is an estimate. An empty key: the runs have no value. */
export type KeyTotal = { key: string; micros: number; estimated: number; runs: number }
/** The key is null for the keys outside of the shown ones. */
export type DayTotal = { day: string; key: string | null; micros: number }
export type MonthTotals = {
  month_micros: number
  estimated: number
  week_micros: number
  /** Creation time of the first run in the week before now. */
  first_of_week: string | null
}

const dayMs = 86_400_000
const usualDays = 30

/** UTC days, both inclusive. */
export type Period = { from: string; to: string }

/** Throws `validation_error` for a period that ends before it starts or is too long. */
export function periodOf(query: { from?: string | undefined; to?: string | undefined }, now: Date): Period {
  const to = query.to ?? now.toISOString().slice(0, 10)
  const from = query.from ?? dayAfter(to, 1 - usualDays)
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1
  if (days < 1) throw invalidFrom('must not be after "to"')
  // The default start of a period in the first days of the year 0.
  if (from.startsWith('-')) throw invalidFrom('must be in the years 0 to 9999')
  if (days > maxCostDays) throw invalidFrom(`the period must have at most ${maxCostDays} days`)
  return { from, to }
}

function invalidFrom(msg: string): Fault {
  return new Fault('validation_error', undefined, {
    issues: [{ loc: ['query', 'from'], msg, type: 'value_error' }],
  })
}

function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)
}

/** The timestamps of a period, both inclusive. */
export function spanOfDays({ from, to }: Period): { since: string; until: string } {
  return { since: `${from}T00:00:00.000Z`, until: `${to}T23:59:59.999Z` }
}

/** Merges the totals of keys that belong to the same groups, most expensive first. */
export function groupTotals(totals: readonly KeyTotal[], groupsOf: (key: string) => string[]): KeyTotal[] {
  const groups = new Map<string, KeyTotal>()
  for (const total of totals) {
    for (const key of groupsOf(total.key)) {
      const before = groups.get(key)
      groups.set(key, {
        key,
        micros: (before?.micros ?? 0) + total.micros,
        estimated: Math.max(before?.estimated ?? 0, total.estimated),
        runs: (before?.runs ?? 0) + total.runs,
      })
    }
  }
  return [...groups.values()].sort((a, b) => b.micros - a.micros || (a.key < b.key ? -1 : 1))
}

export function shownKeys(groups: readonly KeyTotal[]): string[] {
  return groups.slice(0, maxCostGroups).map(({ key }) => key)
}

const noValue: Record<CostGrouping, string> = {
  agent: 'No agent',
  model: 'No model',
  person: 'No person',
  trigger: 'No trigger',
  tag: 'No tag',
}

/** How a group is called, and its value in the filter of runs. */
export type Name = { key: string; label: string }

type Figures = Pick<Costs, 'groups' | 'days' | 'total_cost' | 'cost_estimated' | 'runs' | 'overlaps'>

export type Found = {
  /** By key of the database, for tags by agent. */
  totals: readonly KeyTotal[]
  byDay: readonly DayTotal[]
  /** Of `groupTotals`. */
  groups: readonly KeyTotal[]
  groupsOf: (key: string) => string[]
}

export function figuresOf(
  { group_by, period }: { group_by: CostGrouping; period: Period },
  { totals, byDay, groups, groupsOf }: Found,
  nameOf: (key: string) => Name,
): Figures {
  const shown = groups.slice(0, maxCostGroups)
  const others = groups.slice(maxCostGroups)
  const positions = new Map(shown.map(({ key }, index) => [key, index]))
  const size = shown.length + (others.length > 0 ? 1 : 0)
  const whole = sumOf(totals)
  const days = new Map(
    spansBetween('day', new Date(period.from), new Date(period.to)).map((date) => [
      date,
      { micros: 0, byGroup: Array.from({ length: size }, () => 0) },
    ]),
  )
  for (const { day, key, micros } of byDay) {
    const found = days.get(day)
    if (!found) continue
    // An agent with several tags counts for each of them, but only once in the total of the day.
    found.micros += micros
    for (const group of key === null ? [null] : groupsOf(key)) {
      const position = group === null ? shown.length : (positions.get(group) ?? shown.length)
      found.byGroup[position] = (found.byGroup[position] ?? 0) + micros
    }
  }
  return {
    total_cost: whole.micros / 1_000_000,
    cost_estimated: whole.estimated === 1,
    runs: whole.runs,
    overlaps: sumOf(groups).micros > whole.micros,
    groups: [
      ...shown.map(({ key, ...figures }) => ({
        ...(key === ''
          ? { kind: 'none' as const, key, label: noValue[group_by] }
          : { kind: 'value' as const, ...nameOf(key) }),
        ...costsOf(figures),
      })),
      ...(others.length > 0
        ? [{ kind: 'rest' as const, key: null, label: 'Other', ...costsOf(sumOf(others)) }]
        : []),
    ],
    days: [...days].map(([date, { micros, byGroup }]) => ({
      date,
      cost: micros / 1_000_000,
      by_group: byGroup.map((each) => each / 1_000_000),
    })),
  }
}

function costsOf({ micros, estimated, runs }: Omit<KeyTotal, 'key'>) {
  return { cost: micros / 1_000_000, cost_estimated: estimated === 1, runs }
}

function sumOf(totals: readonly KeyTotal[]): Omit<KeyTotal, 'key'> {
  return {
    micros: totals.reduce((sum, total) => sum + total.micros, 0),
    estimated: totals.some(({ estimated }) => estimated === 1) ? 1 : 0,
    runs: totals.reduce((sum, total) => sum + total.runs, 0),
  }
}

/** The moments from which the forecast counts: the start of the UTC month, and a week ago. */
export function forecastStarts(now: Date): { month: string; week: string } {
  return {
    month: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)).toISOString(),
    week: new Date(now.getTime() - 7 * dayMs).toISOString(),
  }
}

/**
 * The rest of the month costs the average of the last week per day. A history shorter than a week is divided by its own
 * length, but at least by one day.
 */
export function forecastOf(totals: MonthTotals, now: Date): Costs['forecast'] {
  const { month_micros, week_micros, first_of_week, estimated } = totals
  const weekDays = first_of_week === null ? 7 : (now.getTime() - Date.parse(first_of_week)) / dayMs
  const daily = week_micros / Math.min(7, Math.max(1, weekDays))
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  const restDays = (end - now.getTime()) / dayMs
  return {
    month: now.toISOString().slice(0, 7),
    spent: month_micros / 1_000_000,
    cost_estimated: estimated === 1,
    daily_average: Math.round(daily) / 1_000_000,
    expected: Math.round(month_micros + daily * restDays) / 1_000_000,
  }
}

const maxLimits = 20

/** The most used limits first. */
export function mostUsed(limits: readonly CostLimit[]): CostLimit[] {
  const share = ({ spent_today_usd, daily_usd }: CostLimit) => spent_today_usd / daily_usd
  return limits.toSorted((a, b) => share(b) - share(a)).slice(0, maxLimits)
}

/** Yields a CSV file: one line for each day and group with a cost. */
export async function* costsFile({ group_by, groups, days }: Costs): AsyncGenerator<string> {
  yield csvRow(['date', group_by, 'cost_usd'])
  for (const { date, by_group } of days) {
    const lines = groups.flatMap(({ label }, index) => {
      const cost = by_group[index] ?? 0
      return cost === 0 ? [] : [csvRow([date, label, cost])]
    })
    if (lines.length > 0) yield lines.join('')
  }
}
