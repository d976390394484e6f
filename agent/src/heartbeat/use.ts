import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OwnUse } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'

export type UseMeter = {
  /** The use since the previous call; null when the control group cannot be read, as in a sandbox. */
  read(): OwnUse | null
}

export type UseMeterDeps = {
  clock: Pick<Clock, 'elapsed'>
  /** Where the container sees its own control group. */
  cgroup?: string
  /** The kernel's counters of the container's network interfaces. */
  network?: string
}

/** Reads the use of this container from the counters by which the engine limits it. */
export function createUseMeter(deps: UseMeterDeps): UseMeter {
  const { clock, cgroup = '/sys/fs/cgroup', network = '/proc/net/dev' } = deps
  let last = cpuAt()

  function cpuAt(): { seconds: number; at: number } | null {
    const seconds = cpuSeconds(cgroup)
    return seconds === null ? null : { seconds, at: clock.elapsed() }
  }

  return {
    read() {
      const before = last
      const now = cpuAt()
      last = now
      const memory_bytes = memoryBytes(cgroup)
      if (before === null || now === null || memory_bytes === null || now.at <= before.at) return null
      const busySeconds = Math.max(0, now.seconds - before.seconds)
      const cpu_percent = Math.round((busySeconds / (now.at - before.at)) * 1_000_000) / 10
      return { cpu_percent, memory_bytes, ...networkBytes(network) }
    },
  }
}

function cpuSeconds(cgroup: string): number | null {
  const microseconds = field(read(join(cgroup, 'cpu.stat')), 'usage_usec')
  if (microseconds !== null) return microseconds / 1e6
  const nanoseconds = countIn(read(join(cgroup, 'cpuacct/cpuacct.usage')))
  return nanoseconds === null ? null : nanoseconds / 1e9
}

/** Without the part of the page cache that the kernel can reclaim, like the engine's figure. */
function memoryBytes(cgroup: string): number | null {
  for (const [usage, stat, reclaimable] of [
    ['memory.current', 'memory.stat', 'inactive_file'],
    ['memory/memory.usage_in_bytes', 'memory/memory.stat', 'total_inactive_file'],
  ] as const) {
    const bytes = countIn(read(join(cgroup, usage)))
    if (bytes !== null) return Math.max(0, bytes - (field(read(join(cgroup, stat)), reclaimable) ?? 0))
  }
  return null
}

/** Sums all interfaces without loopback; null without any. */
function networkBytes(path: string): Pick<OwnUse, 'network_rx_bytes' | 'network_tx_bytes'> {
  const interfaces = read(path)
    .split('\n')
    .flatMap((line) => {
      const [name, counters] = line.split(':')
      return counters === undefined || name?.trim() === 'lo' ? [] : [counters.trim().split(/\s+/).map(Number)]
    })
  if (interfaces.length === 0) return { network_rx_bytes: null, network_tx_bytes: null }
  const sum = (column: number) => interfaces.reduce((total, counters) => total + (counters[column] ?? 0), 0)
  return { network_rx_bytes: sum(0), network_tx_bytes: sum(8) }
}

function field(text: string, name: string): number | null {
  return countIn(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? '')
}

function countIn(text: string): number | null {
  return /^\d+\s*$/.test(text) ? Number(text) : null
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
