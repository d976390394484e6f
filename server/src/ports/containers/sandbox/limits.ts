import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CgroupMounts } from '../cgroups.ts'
import type { ContainerSpec } from '../port.ts'

/**
 * The control groups of one container: folders to create, files to write, and the file with the out-of-memory
 * count.
 */
export type CgroupPlan = {
  /** Parents first. Optional files may be missing in kernels without the feature. */
  folders: { path: string; writes: { file: string; value: string; optional: boolean }[] }[]
  /** Writing `0` to these files adds the writing process. */
  processFiles: string[]
  /** Contains the line `oom_kill <count>`. */
  memoryKills: string
}

const parent = 'roost'
const periodMicroseconds = 100_000

/** True when control groups can be created: needs root and a writable control group file system. */
export async function mayLimit(mounts: CgroupMounts | null, isRoot: boolean): Promise<boolean> {
  if (!mounts || !isRoot) return false
  if (mounts.version === 1) {
    const controllers = version1Folders(mounts)
    if (controllers.length < version1Controllers.length) return false
    const created = await Promise.all(
      controllers.map(({ mountPoint }) => isDone(mkdir(join(mountPoint, parent), deep))),
    )
    return created.every(Boolean)
  }
  const ancestors = [mounts.mountPoint, join(mounts.mountPoint, parent)]
  if (!(await isDone(mkdir(join(mounts.mountPoint, parent), deep)))) return false
  // Fails when the parent group contains processes, as inside most containers.
  for (const folder of ancestors) {
    if (!(await isDone(writeFile(join(folder, enableControllers.file), enableControllers.value))))
      return false
  }
  return true
}

/**
 * Converts memory without swap, CPU time and process limits of a spec to control group files; `cpus` is the
 * host's count.
 */
export function planCgroups(mounts: CgroupMounts, id: string, spec: ContainerSpec, cpus: number): CgroupPlan {
  const quota = String(Math.round(Math.min(spec.cpus, cpus) * periodMicroseconds))
  return mounts.version === 2
    ? planUnified(mounts.mountPoint, id, spec, quota)
    : planVersion1(mounts, id, spec, quota)
}

/** Returns a plan's folders in the format of `readCgroupUsage`. */
export function usageFolders(mounts: CgroupMounts, id: string): Map<string, string> {
  if (mounts.version === 2) return new Map([['', join(mounts.mountPoint, parent, id)]])
  return new Map(version1Folders(mounts).map(({ name, mountPoint }) => [name, join(mountPoint, parent, id)]))
}

function planUnified(mountPoint: string, id: string, spec: ContainerSpec, quota: string): CgroupPlan {
  const folder = join(mountPoint, parent, id)
  return {
    folders: [
      { path: mountPoint, writes: [enableControllers] },
      { path: join(mountPoint, parent), writes: [enableControllers] },
      {
        path: folder,
        writes: [
          { file: 'memory.max', value: String(spec.memoryBytes), optional: false },
          { file: 'memory.swap.max', value: '0', optional: true },
          { file: 'cpu.max', value: `${quota} ${periodMicroseconds}`, optional: false },
          { file: 'pids.max', value: String(spec.maxProcesses), optional: false },
        ],
      },
    ],
    processFiles: [join(folder, 'cgroup.procs')],
    memoryKills: join(folder, 'memory.events'),
  }
}

function planVersion1(
  mounts: Extract<CgroupMounts, { version: 1 }>,
  id: string,
  spec: ContainerSpec,
  quota: string,
): CgroupPlan {
  const memory = String(spec.memoryBytes)
  const writes: Record<string, CgroupPlan['folders'][number]['writes']> = {
    memory: [
      { file: 'memory.limit_in_bytes', value: memory, optional: false },
      { file: 'memory.memsw.limit_in_bytes', value: memory, optional: true },
    ],
    cpu: [
      { file: 'cpu.cfs_period_us', value: String(periodMicroseconds), optional: false },
      { file: 'cpu.cfs_quota_us', value: quota, optional: false },
    ],
    pids: [{ file: 'pids.max', value: String(spec.maxProcesses), optional: false }],
  }
  const folders = version1Folders(mounts).map(({ name, mountPoint }) => ({
    path: join(mountPoint, parent, id),
    writes: writes[name] ?? [],
  }))
  const memoryMount = mounts.controllers.get('memory')?.mountPoint ?? ''
  return {
    folders,
    processFiles: [...new Set(folders.map(({ path }) => join(path, 'cgroup.procs')))],
    memoryKills: join(memoryMount, parent, id, 'memory.oom_control'),
  }
}

/** In version 2 a group has only the controllers enabled in its parent. */
const enableControllers = { file: 'cgroup.subtree_control', value: '+cpu +memory +pids', optional: false }
const deep = { recursive: true }

const version1Controllers = ['memory', 'cpu', 'cpuacct', 'pids']

function version1Folders(
  mounts: Extract<CgroupMounts, { version: 1 }>,
): { name: string; mountPoint: string }[] {
  return version1Controllers.flatMap((name) => {
    const mount = mounts.controllers.get(name)
    return mount ? [{ name, mountPoint: mount.mountPoint }] : []
  })
}

function isDone(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}
