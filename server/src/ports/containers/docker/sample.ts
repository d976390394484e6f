import { readFile } from 'node:fs/promises'
import type { ContainerInspectInfo, ContainerStats } from 'dockerode'
import { type CgroupMounts, cgroupFolders, findCgroupMounts, readCgroupUsage } from '../cgroups.ts'
import { createCpuRate } from '../cpu-rate.ts'
import type { ContainerSample } from '../port.ts'
import { networkBytes, processStartTicks } from '../proc.ts'

export type Sampler = {
  sample(id: string): Promise<ContainerSample | null>
  forget(id: string): void
}

export type SamplerSource = {
  /** Returns null for a missing or foreign container. */
  inspect(id: string): Promise<ContainerInspectInfo | null>
  /** The engine's own statistics; older engines wait for a second measurement. */
  stats(id: string): Promise<ContainerStats>
}

type ProcessLocation = { pid: number; startTicks: number; mounts: CgroupMounts; folders: Map<string, string> }

/**
 * Samples a container from the kernel's control group files where visible, which needs no engine request once
 * the container is known. Falls back to the engine's statistics.
 */
export function createSampler(source: SamplerSource): Sampler {
  const locations = new Map<string, ProcessLocation>()
  const rate = createCpuRate()
  let mounts: CgroupMounts | null | undefined

  return {
    async sample(id) {
      const known = locations.get(id)
      const cachedSample = known && (await readLocation(id, known))
      if (cachedSample) return cachedSample
      locations.delete(id)
      const info = await source.inspect(id)
      if (!info?.State.Running || info.State.Restarting) {
        rate.forget(id)
        return null
      }
      // Usage was zero at the start, so the first rate is the mean since then.
      const upMs = Date.now() - Date.parse(info.State.StartedAt)
      if (upMs > 0) rate.startedAt(id, performance.now() - upMs)
      const location = await locate(info)
      if (location) {
        locations.set(id, location)
        const sample = await readLocation(id, location)
        if (sample) return sample
      }
      return fromStats(id, await source.stats(id))
    },
    forget(id) {
      locations.delete(id)
      rate.forget(id)
    },
  }

  async function locate(info: ContainerInspectInfo): Promise<ProcessLocation | null> {
    const pid = info.State.Pid
    mounts ??= await findCgroupMounts()
    if (!mounts || pid <= 0) return null
    const cgroups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
    // The engine may number processes differently (another host or namespace), so the id must match.
    if (!cgroups.includes(info.Id)) return null
    const startTicks = await processStartTicks(pid)
    return startTicks === null ? null : { pid, startTicks, mounts, folders: cgroupFolders(mounts, cgroups) }
  }

  async function readLocation(id: string, place: ProcessLocation): Promise<ContainerSample | null> {
    if ((await processStartTicks(place.pid)) !== place.startTicks) return null
    const [usage, network] = await Promise.all([
      readCgroupUsage(place.mounts, place.folders),
      networkBytes(place.pid),
    ])
    if (!usage) return null
    return {
      cpuPercent: rate.percent(id, usage.cpuNanoseconds, performance.now()),
      memoryUsedBytes: usage.memoryBytes,
      memoryLimitBytes: usage.memoryLimitBytes,
      networkRxBytes: network?.received ?? null,
      networkTxBytes: network?.sent ?? null,
      sampledAt: new Date().toISOString(),
    }
  }

  function fromStats(id: string, stats: ContainerStats): ContainerSample | null {
    // A container that has just ended has empty statistics.
    if (stats.memory_stats?.usage === undefined) return null
    const networks = Object.values(stats.networks ?? {})
    const cache =
      stats.memory_stats.stats?.inactive_file ?? stats.memory_stats.stats?.total_inactive_file ?? 0
    return {
      cpuPercent: rate.percent(id, stats.cpu_stats.cpu_usage.total_usage, performance.now()),
      memoryUsedBytes: Math.max(0, stats.memory_stats.usage - cache),
      memoryLimitBytes: stats.memory_stats.limit ?? null,
      networkRxBytes: networks.length > 0 ? networks.reduce((sum, { rx_bytes }) => sum + rx_bytes, 0) : null,
      networkTxBytes: networks.length > 0 ? networks.reduce((sum, { tx_bytes }) => sum + tx_bytes, 0) : null,
      sampledAt: new Date().toISOString(),
    }
  }
}
