import { readFileSync, writeFileSync } from 'node:fs'

/** How often the kernel's memory killer struck in this container; null where that cannot be read. */
export function countOutOfMemory(): number | null {
  for (const path of ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control']) {
    const found = /^oom_kill (\d+)$/m.exec(read(path))?.[1]
    if (found) return Number(found)
  }
  return null
}

/**
 * When memory runs out the kernel takes this process, and what it starts, before the program that has to
 * report it. Another user's process stays as it is.
 */
export function preferForMemoryKiller(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500')
  } catch {
    // It belongs to another user, or is gone.
  }
}

/** Memory of the container as its limit counts it, in MB; of this program where no limit can be read. */
export function memoryUsedMb(): number {
  for (const path of ['/sys/fs/cgroup/memory.current', '/sys/fs/cgroup/memory/memory.usage_in_bytes']) {
    const bytes = Number.parseInt(read(path), 10)
    if (Number.isFinite(bytes)) return Math.round(bytes / 1048576)
  }
  return Math.round(process.memoryUsage.rss() / 1048576)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
