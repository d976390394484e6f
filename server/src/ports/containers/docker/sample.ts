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
  /** Null when there is no such container, or it is not ours. */
  inspect(id: string): Promise<ContainerInspectInfo | null>
  /** The engine's own figures: slow (it waits for a second measurement on older engines). */
  stats(id: string): Promise<ContainerStats>
}

type Place = { pid: number; startTicks: number; mounts: CgroupMounts; folders: Map<string, string> }

/**
 * Samples from the kernel's files of a container's control group where this process can see them, which
 * costs no call to the engine once the container is known; from the engine's statistics elsewhere.
 */
export function createSampler(source: SamplerSource): Sampler {
  const places = new Map<string, Place>()
  const rate = createCpuRate()
  let mounts: CgroupMounts | null | undefined

  return {
    async sample(id) {
      const known = places.get(id)
      const fromKnown = known && (await readPlace(id, known))
      if (fromKnown) return fromKnown
      places.delete(id)
      const info = await source.inspect(id)
      if (!info?.State.Running || info.State.Restarting) {
        rate.forget(id)
        return null
      }
      // Nothing was used when it started: the first figure is the mean since then, not unknown.
      const upMs = Date.now() - Date.parse(info.State.StartedAt)
      if (upMs > 0) rate.startedAt(id, performance.now() - upMs)
      const place = await findPlace(info)
      if (place) {
        places.set(id, place)
        const sample = await readPlace(id, place)
        if (sample) return sample
      }
      return fromStats(id, await source.stats(id))
    },
    forget(id) {
      places.delete(id)
      rate.forget(id)
    },
  }

  async function findPlace(info: ContainerInspectInfo): Promise<Place | null> {
    const pid = info.State.Pid
    mounts ??= await findCgroupMounts()
    if (!mounts || pid <= 0) return null
    const cgroups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
    // The engine may count pids elsewhere (another host, another namespace): only the id proves it is ours.
    if (!cgroups.includes(info.Id)) return null
    const startTicks = await processStartTicks(pid)
    return startTicks === null ? null : { pid, startTicks, mounts, folders: cgroupFolders(mounts, cgroups) }
  }

  async function readPlace(id: string, place: Place): Promise<ContainerSample | null> {
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
    // A container that ended in between answers with empty figures.
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
