export type ObservedRequest = { method: string; route: string; status: number; seconds: number }

/** Upper bounds in seconds; everything above the last one counts as `+Inf`. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60] as const
const name = 'roost_http_request_seconds'
const help = 'Requests answered by this process, by route; streams until their end.'

type Series = { labels: string; counts: number[]; sum: number }

export type Latencies = {
  observe(request: ObservedRequest): void
  /** A histogram in the text format of Prometheus. */
  text(): string
}

/**
 * The latencies of requests from the first one on. The metrics library would do this too, but costs memory that most
 * platforms never use, so it is loaded with the first scrape only.
 */
export function createLatencies(): Latencies {
  const all = new Map<string, Series>()

  function seriesOf({ method, route, status }: ObservedRequest): Series {
    const labels = `method="${method}",route="${route}",status="${status}"`
    let series = all.get(labels)
    if (!series) {
      series = { labels, counts: new Array(bounds.length + 1).fill(0), sum: 0 }
      all.set(labels, series)
    }
    return series
  }

  return {
    observe(request) {
      const series = seriesOf(request)
      const at = bounds.findIndex((bound) => request.seconds <= bound)
      const place = at < 0 ? bounds.length : at
      series.counts[place] = (series.counts[place] ?? 0) + 1
      series.sum += request.seconds
    },

    text() {
      const lines = [...all.values()].flatMap(linesOf)
      return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n')
    },
  }
}

/** Buckets are cumulative. */
function linesOf({ labels, counts, sum }: Series): string[] {
  let total = 0
  const buckets = counts.map((count, index) => {
    total += count
    return `${name}_bucket{le="${bounds[index] ?? '+Inf'}",${labels}} ${total}`
  })
  return [...buckets, `${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${total}`]
}
