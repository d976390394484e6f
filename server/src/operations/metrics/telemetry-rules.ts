import type { AgentStats } from '@roost/contracts/agents/health'
import type { ContainersTelemetry, HostTelemetry } from '@roost/contracts/operations/telemetry'

type Space = { usedBytes: number; totalBytes: number }
/** A reading of the machine; CPU times count from its start. */
export type Reading = {
  cpuCount: number
  cpuBusyMs: number
  cpuTotalMs: number
  memory: Space
  disk: Space
  load: [number, number, number]
}

/** CPU use is the mean since `previous`; without an older reading, since the machine started. */
export function hostTelemetry(reading: Reading, previous: Reading | null, at: string): HostTelemetry {
  const { cpuCount, memory, disk, load } = reading
  return {
    timestamp: at,
    cpu: { percent: cpuPercent(reading, previous), count: cpuCount },
    memory: usageOf(memory),
    disk: usageOf(disk),
    load: load.map((value) => rounded(value, 2)) as Reading['load'],
  }
}

function cpuPercent(reading: Reading, previous: Reading | null): number {
  const since = previous && reading.cpuTotalMs > previous.cpuTotalMs ? previous : machineStart
  const total = reading.cpuTotalMs - since.cpuTotalMs
  const busy = reading.cpuBusyMs - since.cpuBusyMs
  return total === 0 ? 0 : rounded(Math.min(100, Math.max(0, (busy / total) * 100)), 1)
}
const machineStart = { cpuBusyMs: 0, cpuTotalMs: 0 }

function usageOf({ usedBytes, totalBytes }: Space) {
  return {
    percent: totalBytes === 0 ? 0 : rounded((usedBytes / totalBytes) * 100, 1),
    used_gb: rounded(usedBytes / gigabyte, 2),
    total_gb: rounded(totalBytes / gigabyte, 2),
  }
}

const gigabyte = 1024 ** 3
const megabyte = 1024 ** 2

/** Age from which figures are stale: the sampler missed three rounds. */
export const staleAfterSeconds = 30

/** Running agents, the busiest first. */
export function containersTelemetry(running: readonly AgentStats[], timestamp: string): ContainersTelemetry {
  const containers = running.map(containerOf)
  const ages = running.flatMap(({ age_seconds }) => age_seconds ?? [])
  const oldest = Math.max(0, ...ages)
  const sum = (of: 'cpu' | 'memory_mb') => containers.reduce((total, each) => total + each[of], 0)
  return {
    timestamp,
    running_count: running.length,
    total_cpu_percent: rounded(sum('cpu'), 1),
    total_memory_mb: rounded(sum('memory_mb'), 1),
    containers: containers.sort((a, b) => b.cpu - a.cpu || (a.name < b.name ? -1 : 1)),
    age_seconds: oldest,
    stale: oldest > staleAfterSeconds,
    no_data: running.length > 0 && ages.length === 0,
  }
}

function containerOf({ agent_name, cpu_percent, memory_used_bytes }: AgentStats) {
  if (memory_used_bytes === null) {
    return { name: agent_name, cpu: 0, memory_mb: 0, error: 'There are no figures of this container yet.' }
  }
  return { name: agent_name, cpu: cpu_percent ?? 0, memory_mb: rounded(memory_used_bytes / megabyte, 1) }
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
