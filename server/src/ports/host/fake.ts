import type { Host, HostReading } from './port.ts'

/** A machine with figures set by a test. */
export type FakeHost = Host & { set(reading: Partial<HostReading>): void; reads(): number }

export function createFakeHost(): FakeHost {
  let reading: HostReading = {
    cpuCount: 4,
    cpuBusyMs: 1_000,
    cpuTotalMs: 4_000,
    memory: { usedBytes: 2 * 1024 ** 3, totalBytes: 8 * 1024 ** 3 },
    disk: { usedBytes: 25 * 1024 ** 3, totalBytes: 100 * 1024 ** 3 },
    load: [0.5, 0.4, 0.3],
  }
  let reads = 0
  return {
    async read() {
      reads += 1
      return reading
    },
    set(changed) {
      reading = { ...reading, ...changed }
    },
    reads: () => reads,
  }
}
