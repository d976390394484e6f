import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CgroupMounts } from '../cgroups.ts'
import type { ContainerSpec } from '../port.ts'

/** The control groups of one container: folders to make, files to write, and where the memory killer leaves its count. */
export type CgroupPlan = {
  /** Parents first. A missing file marked optional is a feature that the kernel was built without. */
  folders: { path: string; writes: { file: string; value: string; optional: boolean }[] }[]
  /** Writing `0` here moves the writing process in. */
  processFiles: string[]
  /** The line `oom_kill <count>` of this file. */
  memoryKills: string
}

const parent = 'roost'
const periodMicroseconds = 100_000

/** Whether groups can be made at all: needs root and a control group file system that may be written. */
export async function mayLimit(mounts: CgroupMounts | null, isRoot: boolean): Promise<boolean> {
  if (!mounts || !isRoot) return false
  if (mounts.version === 1) {
    const controllers = version1Folders(mounts)
    if (controllers.length < version1Controllers.length) return false
    const made = await Promise.all(
      controllers.map(({ mountPoint }) => isDone(mkdir(join(mountPoint, parent), deep))),
    )
    return made.every(Boolean)
  }
  const above = [mounts.mountPoint, join(mounts.mountPoint, parent)]
  if (!(await isDone(mkdir(join(mounts.mountPoint, parent), deep)))) return false
  // Refused where the group above holds processes itself, as it does inside most containers.
  for (const folder of above) {
    if (!(await isDone(writeFile(join(folder, handDown.file), handDown.value)))) return false
  }
  return true
}

/** Memory without swap, CPU time and processes of a spec as control group files; `cpus` is the host's count. */
export function planCgroups(mounts: CgroupMounts, id: string, spec: ContainerSpec, cpus: number): CgroupPlan {
  const quota = String(Math.round(Math.min(spec.cpus, cpus) * periodMicroseconds))
  return mounts.version === 2
    ? planUnified(mounts.mountPoint, id, spec, quota)
    : planVersion1(mounts, id, spec, quota)
}

/** Folders of a plan in the form that `readCgroupUsage` takes. */
export function usageFolders(mounts: CgroupMounts, id: string): Map<string, string> {
  if (mounts.version === 2) return new Map([['', join(mounts.mountPoint, parent, id)]])
  return new Map(version1Folders(mounts).map(({ name, mountPoint }) => [name, join(mountPoint, parent, id)]))
}

function planUnified(mountPoint: string, id: string, spec: ContainerSpec, quota: string): CgroupPlan {
  const folder = join(mountPoint, parent, id)
  return {
    folders: [
      { path: mountPoint, writes: [handDown] },
      { path: join(mountPoint, parent), writes: [handDown] },
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

/** In version 2 a group's controllers are those that the group above hands down. */
const handDown = { file: 'cgroup.subtree_control', value: '+cpu +memory +pids', optional: false }
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
