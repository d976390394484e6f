import { DeclaredMetric, type Metric, type MetricState } from '@roost/contracts/operations/agent-metrics'

/** Parses `metrics.json`, a flat map that the agent writes. Null for any other content. */
export function parseValues(text: string): ReadonlyMap<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return new Map(Object.entries(value))
  } catch {
    return null
  }
}

/** Returns the valid declarations of a template. Of duplicate names the first counts. */
export function declaredMetrics(entries: readonly unknown[]): DeclaredMetric[] {
  const byName = new Map<string, DeclaredMetric>()
  for (const entry of entries) {
    const { data } = DeclaredMetric.safeParse(entry)
    if (data && !byName.has(data.name)) byName.set(data.name, data)
  }
  return [...byName.values()]
}

/** `input` is undefined when the agent writes no such value. */
export function viewMetric(declared: DeclaredMetric, input: unknown): Metric {
  const { name, type, label, unit } = declared
  const value = type === 'status' ? asText(input) : asNumber(input)
  return { name, type, label: label ?? name, unit: unit ?? null, value, state: stateOf(declared, value) }
}

function stateOf(declared: DeclaredMetric, value: number | string | null): MetricState {
  if (value === null) return 'unknown'
  return typeof value === 'number' ? stateOfNumber(declared, value) : stateOfText(declared, value)
}

/** A critical threshold below the warning means that less is worse: free space, a success rate. */
function stateOfNumber(
  { warning_threshold: warning, critical_threshold: critical }: DeclaredMetric,
  value: number,
): MetricState {
  const isLessWorse = isPresent(warning) && isPresent(critical) && critical < warning
  const isBeyond = (threshold: number) => (isLessWorse ? value <= threshold : value >= threshold)
  if (isPresent(critical) && isBeyond(critical)) return 'critical'
  return isPresent(warning) && isBeyond(warning) ? 'warning' : 'ok'
}

const criticalColors = ['red', 'crimson', 'darkred', 'danger']
const warningColors = ['yellow', 'orange', 'amber', 'gold']

/** An undeclared value is `unknown`. */
function stateOfText({ values }: DeclaredMetric, value: string): MetricState {
  const found = values?.find((each) => String(each.value) === value)
  if (!found) return 'unknown'
  const color = found.color?.toLowerCase() ?? ''
  if (criticalColors.includes(color)) return 'critical'
  return warningColors.includes(color) ? 'warning' : 'ok'
}

function isPresent(threshold: number | null | undefined): threshold is number {
  return threshold !== null && threshold !== undefined
}

function asNumber(input: unknown): number | null {
  return typeof input === 'number' && Number.isFinite(input) ? input : null
}

const maxTextLength = 200

function asText(input: unknown): string | null {
  const isPlain = typeof input === 'string' || typeof input === 'number' || typeof input === 'boolean'
  return isPlain ? String(input).slice(0, maxTextLength) : null
}
