/** A metric in the text format of Prometheus. */
export type MetricDefinition<L extends string = string> = {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly L[]
  /** `process`: of the answering process. `installation`: every process reports the same value. */
  scope: 'process' | 'installation'
}

/** One time series: the values of the labels in the order of the definition, and the value. */
export type Sample = readonly [labels: readonly string[], value: number]

export type Meter = { definition: MetricDefinition; text(): string }

/** A count that only grows. `labels` are values in the order of the definition. */
export type Counter = Meter & { add(labels: readonly string[], amount?: number): void }
export type Histogram = Meter & { observe(labels: readonly string[], value: number): void }

export function createCounter(definition: MetricDefinition): Counter {
  const all = new Map<string, { labels: readonly string[]; value: number }>()
  return {
    definition,
    add(labels, amount = 1) {
      const key = keyOf(labels)
      const series = all.get(key)
      if (series) series.value += amount
      else all.set(key, { labels, value: amount })
    },
    text: () =>
      metricText(
        definition,
        [...all.values()].map(({ labels, value }) => [labels, value] as const),
      ),
  }
}

/** `bounds` are the upper bounds of the buckets, ascending; higher values count as `+Inf`. */
export function createHistogram(definition: MetricDefinition, bounds: readonly number[]): Histogram {
  const all = new Map<string, { labels: readonly string[]; counts: number[]; sum: number }>()
  const { name } = definition
  const names = [...bounds.map(String), '+Inf']
  return {
    definition,
    observe(labels, value) {
      const key = keyOf(labels)
      let series = all.get(key)
      if (!series) {
        series = { labels, counts: new Array<number>(names.length).fill(0), sum: 0 }
        all.set(key, series)
      }
      const found = bounds.findIndex((bound) => value <= bound)
      const bucket = found < 0 ? bounds.length : found
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
      series.sum += value
    },
    text() {
      const lines = head(definition)
      for (const { labels, counts, sum } of all.values()) {
        const own = pairs(definition, labels)
        const separator = own === '' ? '' : ','
        let total = 0
        for (const [index, bound] of names.entries()) {
          total += counts[index] ?? 0
          lines.push(`${name}_bucket{le="${bound}"${separator}${own}} ${total}`)
        }
        const braces = own === '' ? '' : `{${own}}`
        lines.push(`${name}_sum${braces} ${sum}`, `${name}_count${braces} ${total}`)
      }
      return `${lines.join('\n')}\n`
    },
  }
}

/** The text of a counter or gauge with its current samples. */
export function metricText(definition: MetricDefinition, samples: readonly Sample[]): string {
  const lines = head(definition)
  for (const [labels, value] of samples) {
    const own = pairs(definition, labels)
    lines.push(`${definition.name}${own === '' ? '' : `{${own}}`} ${value}`)
  }
  return `${lines.join('\n')}\n`
}

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

function head({ name, help, type }: MetricDefinition): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

function pairs({ labels: names }: MetricDefinition, values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`).join(',')
}

function escaped(value: string): string {
  return /["\\\n]/.test(value)
    ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
    : value
}

function keyOf(labels: readonly string[]): string {
  return labels.length === 1 ? (labels[0] ?? '') : labels.join('\u0000')
}
