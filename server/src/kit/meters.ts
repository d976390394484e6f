import { Gauge, Counter as LibraryCounter, Histogram as LibraryHistogram, Registry } from 'prom-client'

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

export type Meter = { definition: MetricDefinition; text(): Promise<string> }

/** A count that only grows. `labels` are values in the order of the definition. */
export type Counter = Meter & { add(labels: readonly string[], amount?: number): void }
export type Histogram = Meter & { observe(labels: readonly string[], value: number): void }

export function createCounter(definition: MetricDefinition): Counter {
  const counter = new LibraryCounter(ofLibrary(definition))
  return {
    definition,
    add: (labels, amount = 1) => counter.inc(named(definition, labels), amount),
    text: () => textOf(definition, counter),
  }
}

/** `bounds` are the upper bounds of the buckets, ascending; higher values count as `+Inf`. */
export function createHistogram(definition: MetricDefinition, bounds: readonly number[]): Histogram {
  const histogram = new LibraryHistogram({ ...ofLibrary(definition), buckets: [...bounds] })
  return {
    definition,
    observe: (labels, value) => histogram.observe(named(definition, labels), value),
    text: () => textOf(definition, histogram),
  }
}

/** The text of a gauge with its current samples. */
export function gaugeText(definition: MetricDefinition, samples: readonly Sample[]): Promise<string> {
  const gauge = new Gauge(ofLibrary(definition))
  // Without samples a gauge without labels would have the value 0.
  gauge.reset()
  gauge.remove({})
  for (const [labels, value] of samples) gauge.set(named(definition, labels), value)
  return textOf(definition, gauge)
}

export const metricsContentType: string = Registry.PROMETHEUS_CONTENT_TYPE

/** Metrics belong to one platform; the library's own registry would be shared by all of a process. */
function ofLibrary({ name, help, labels }: MetricDefinition) {
  return { name, help, labelNames: [...labels], registers: [] }
}

function named({ labels: names }: MetricDefinition, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))
}

async function textOf(
  { name }: MetricDefinition,
  metric: LibraryCounter | LibraryHistogram | Gauge,
): Promise<string> {
  const registry = new Registry()
  registry.registerMetric(metric)
  return `${await registry.getSingleMetricAsString(name)}\n`
}
