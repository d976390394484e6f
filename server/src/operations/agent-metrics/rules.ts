import { DeclaredMetric, type Metric, type MetricState } from '@roost/contracts/operations/agent-metrics'

/** `metrics.json`, which the agent writes: a flat map. Null: it is none. */
export function parseValues(text: string): ReadonlyMap<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return new Map(Object.entries(value))
  } catch {
    return null
  }
}

/** What of a template's declarations can be read; of two of one name the first. */
export function declaredMetrics(entries: readonly unknown[]): DeclaredMetric[] {
  const byName = new Map<string, DeclaredMetric>()
  for (const entry of entries) {
    const { data } = DeclaredMetric.safeParse(entry)
    if (data && !byName.has(data.name)) byName.set(data.name, data)
  }
  return [...byName.values()]
}

/** `given` undefined: the agent keeps no such value. */
export function shownMetric(declared: DeclaredMetric, given: unknown): Metric {
  const { name, type, label, unit } = declared
  const value = type === 'status' ? word(given) : number(given)
  return { name, type, label: label ?? name, unit: unit ?? null, value, state: stateOf(declared, value) }
}

function stateOf(declared: DeclaredMetric, value: number | string | null): MetricState {
  if (value === null) return 'unknown'
  return typeof value === 'number' ? stateOfNumber(declared, value) : stateOfWord(declared, value)
}

/** Where the critical threshold is the lower one, less is worse: free space, a success rate. */
function stateOfNumber(
  { warning_threshold: warning, critical_threshold: critical }: DeclaredMetric,
  value: number,
): MetricState {
  const isLessWorse = isGiven(warning) && isGiven(critical) && critical < warning
  const isBeyond = (threshold: number) => (isLessWorse ? value <= threshold : value >= threshold)
  if (isGiven(critical) && isBeyond(critical)) return 'critical'
  return isGiven(warning) && isBeyond(warning) ? 'warning' : 'ok'
}

const criticalColors = ['red', 'crimson', 'darkred', 'danger']
const warningColors = ['yellow', 'orange', 'amber', 'gold']

/** A value that is not among the declared ones says nothing about how things are. */
function stateOfWord({ values }: DeclaredMetric, value: string): MetricState {
  const found = values?.find((each) => String(each.value) === value)
  if (!found) return 'unknown'
  const color = found.color?.toLowerCase() ?? ''
  if (criticalColors.includes(color)) return 'critical'
  return warningColors.includes(color) ? 'warning' : 'ok'
}

function isGiven(threshold: number | null | undefined): threshold is number {
  return threshold !== null && threshold !== undefined
}

function number(given: unknown): number | null {
  return typeof given === 'number' && Number.isFinite(given) ? given : null
}

const longestWord = 200

function word(given: unknown): string | null {
  const isPlain = typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean'
  return isPlain ? String(given).slice(0, longestWord) : null
}
