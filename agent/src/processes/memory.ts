import { readFileSync } from 'node:fs'

/** Returns how often the kernel's out-of-memory killer acted in this container; null when unreadable. */
export function countOutOfMemory(): number | null {
  for (const path of ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control']) {
    const found = /^oom_kill (\d+)$/m.exec(read(path))?.[1]
    if (found) return Number(found)
  }
  return null
}

/** Returns the container's memory in MB as its limit counts it; else the memory of this program. */
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
