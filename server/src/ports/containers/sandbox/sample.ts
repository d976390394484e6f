import { readFile } from 'node:fs/promises'
import { type CgroupMounts, type CgroupUsage, readCgroupUsage } from '../cgroups.ts'
import { statFields } from '../proc.ts'
import { usageFolders } from './limits.ts'

/** The kernel's clock ticks per second and bytes per page, fixed on every Linux that Node supports. */
const ticksPerSecond = 100
const pageBytes = 4096

/** Reads a container's usage from its control groups, or sums its processes without them. */
export async function readUsage(
  mounts: CgroupMounts | null,
  id: string,
  firstPid: number,
): Promise<CgroupUsage | null> {
  return mounts ? readCgroupUsage(mounts, usageFolders(mounts, id)) : sumProcesses(firstPid)
}

/**
 * Every process of a namespace descends from its first one, even after a parent has died. Shared pages count
 * in each process, so memory is an upper bound.
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
