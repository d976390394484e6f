/** Converts a CPU time counter to percent of one CPU since the previous sample of the same container. */
export type CpuRate = {
  /** Null for the first sample, and after a restart that reset the counter. */
  percent(id: string, cpuNanoseconds: number, atMs: number): number | null
  /** With a known start time the first sample is the mean since then. */
  startedAt(id: string, atMs: number): void
  forget(id: string): void
}

export function createCpuRate(): CpuRate {
  const previous = new Map<string, { cpuNanoseconds: number; atMs: number; percent: number | null }>()
  return {
    percent(id, cpuNanoseconds, atMs) {
      const last = previous.get(id)
      // Two samples in the same millisecond have no rate, so the previous one is returned.
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
