import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'

/** Mount points of the controllers on this host. In version 2 all share one folder. */
export type CgroupMounts =
  | { version: 1; controllers: Map<string, { mountPoint: string; root: string }> }
  | { version: 2; mountPoint: string; root: string }

export type CgroupUsage = { cpuNanoseconds: number; memoryBytes: number; memoryLimitBytes: number | null }

/** Reads the layout from /proc/self/mountinfo; null when no cgroup file system is mounted. */
export async function findCgroupMounts(): Promise<CgroupMounts | null> {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  return parseCgroupMounts(text)
}

export function parseCgroupMounts(mountinfo: string): CgroupMounts | null {
  const controllers = new Map<string, { mountPoint: string; root: string }>()
  let unified: { mountPoint: string; root: string } | null = null
  for (const line of mountinfo.split('\n')) {
    const [left, right] = line.split(' - ')
    if (left === undefined || right === undefined) continue
    const [, , , root = '/', mountPoint = ''] = left.split(' ')
    const [type, , options = ''] = right.split(' ')
    if (type === 'cgroup2') unified ??= { mountPoint, root }
    if (type !== 'cgroup') continue
    for (const option of options.split(',')) {
      if (!controllers.has(option)) controllers.set(option, { mountPoint, root })
    }
  }
  // A hybrid host mounts both versions; its controllers belong to version 1.
  if (controllers.has('memory')) return { version: 1, controllers }
  return unified ? { version: 2, ...unified } : null
}

/**
 * Returns the folder of a process under each controller (key '' in version 2), from the text of
 * /proc/<pid>/cgroup.
 */
export function cgroupFolders(mounts: CgroupMounts, processCgroups: string): Map<string, string> {
  const folders = new Map<string, string>()
  for (const line of processCgroups.split('\n')) {
    const [, names, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (names === undefined || path === undefined) continue
    if (mounts.version === 2) {
      if (names === '') folders.set('', join(mounts.mountPoint, posix.relative(mounts.root, path)))
      continue
    }
    for (const name of names.split(',')) {
      const mount = mounts.controllers.get(name)
      if (mount) folders.set(name, join(mount.mountPoint, posix.relative(mount.root, path)))
    }
  }
  return folders
}

/** Reads CPU time and memory of a group, without reclaimable page cache; null when unreadable. */
export async function readCgroupUsage(
  mounts: CgroupMounts,
  folders: Map<string, string>,
): Promise<CgroupUsage | null> {
  try {
    return mounts.version === 2 ? await readUnified(folders.get('')) : await readVersion1(folders)
  } catch {
    return null
  }
}

async function readUnified(folder: string | undefined): Promise<CgroupUsage | null> {
  if (folder === undefined) return null
  const [cpu, current, stat, limit] = await Promise.all(
    ['cpu.stat', 'memory.current', 'memory.stat', 'memory.max'].map((file) =>
      readFile(join(folder, file), 'utf8'),
    ),
  )
  return {
    cpuNanoseconds: field(cpu ?? '', 'usage_usec') * 1000,
    memoryBytes: Math.max(0, Number(current) - field(stat ?? '', 'inactive_file')),
    memoryLimitBytes: limit?.trim() === 'max' ? null : Number(limit),
  }
}

async function readVersion1(folders: Map<string, string>): Promise<CgroupUsage | null> {
  const memory = folders.get('memory')
  const cpuacct = folders.get('cpuacct')
  if (memory === undefined || cpuacct === undefined) return null
  const [cpu, current, stat, limit] = await Promise.all(
    [
      join(cpuacct, 'cpuacct.usage'),
      join(memory, 'memory.usage_in_bytes'),
      join(memory, 'memory.stat'),
      join(memory, 'memory.limit_in_bytes'),
    ].map((file) => readFile(file, 'utf8')),
  )
  const limitBytes = Number(limit)
  return {
    cpuNanoseconds: Number(cpu),
    memoryBytes: Math.max(0, Number(current) - field(stat ?? '', 'total_inactive_file')),
    // "No limit" is the largest number of pages.
    memoryLimitBytes: limitBytes > 2 ** 60 ? null : limitBytes,
  }
}

function field(text: string, name: string): number {
  const value = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]
  return value === undefined ? 0 : Number(value)
}
