import { readFile } from 'node:fs/promises'
import { type CgroupMounts, type CgroupUsage, readCgroupUsage } from '../cgroups.ts'
import { statFields } from '../proc.ts'
import { usageFolders } from './limits.ts'

/** Kernel's clock ticks in a second, and bytes in a page: fixed on every Linux that Node runs on. */
const ticksPerSecond = 100
const pageBytes = 4096

/** Use of a container from its control groups, or summed over its processes where it has none. */
export async function readUsage(
  mounts: CgroupMounts | null,
  id: string,
  firstPid: number,
): Promise<CgroupUsage | null> {
  return mounts ? readCgroupUsage(mounts, usageFolders(mounts, id)) : sumProcesses(firstPid)
}

/**
 * Every process of a process namespace descends from its first one, also those whose parent has died.
 * Shared pages count in each process, so memory is an upper bound.
 */
async function sumProcesses(firstPid: number): Promise<CgroupUsage | null> {
  let cpuTicks = 0
  let pages = 0
  let found = 0
  const open = [firstPid]
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    const [fields, children] = await Promise.all([
      statFields(pid),
      readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => ''),
    ])
    if (!fields) continue
    found += 1
    cpuTicks += fields.cpuTicks
    pages += fields.rssPages
    open.push(...children.trim().split(' ').filter(Boolean).map(Number))
  }
  if (found === 0) return null
  return {
    cpuNanoseconds: (cpuTicks / ticksPerSecond) * 1e9,
    memoryBytes: pages * pageBytes,
    memoryLimitBytes: null,
  }
}
