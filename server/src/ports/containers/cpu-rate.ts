/** Turns a counter of CPU time into percent of one CPU, from the difference to the previous look at the same container. */
export type CpuRate = {
  /** Null at the first look, and after a restart that set the counter back. */
  percent(id: string, cpuNanoseconds: number, atMs: number): number | null
  /** When it is known, the first look has a figure too: the mean since then. */
  startedAt(id: string, atMs: number): void
  forget(id: string): void
}

export function createCpuRate(): CpuRate {
  const previous = new Map<string, { cpuNanoseconds: number; atMs: number; percent: number | null }>()
  return {
    percent(id, cpuNanoseconds, atMs) {
      const last = previous.get(id)
      // Two looks in the same millisecond have no rate between them: the older answer stands.
      if (last && atMs - last.atMs < 1) return last.percent
      const percent =
        last && cpuNanoseconds >= last.cpuNanoseconds
          ? Math.round(((cpuNanoseconds - last.cpuNanoseconds) / ((atMs - last.atMs) * 1e6)) * 1000) / 10
          : null
      previous.set(id, { cpuNanoseconds, atMs, percent })
      return percent
    },
    startedAt(id, atMs) {
      const last = previous.get(id)
      if (!last || last.atMs < atMs) previous.set(id, { cpuNanoseconds: 0, atMs, percent: null })
    },
    forget: (id) => {
      previous.delete(id)
    },
  }
}
