import { readdir, readFile, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cacheVariable } from './paths.ts'

/** Control groups that the kubelet of Kubernetes 1.20 manages. */
const controllers = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids']
const cgroupRoot = '/sys/fs/cgroup'
/** Debian 12. Its source package is the last one whose control plane was built and tried. */
const release = 'bookworm'
const overlayMagic = 0x794c7630
/** `node-init.sh` mounts other folders there. */
const ownFolders = ['/run', '/var/lib', '/var/log']

/** What the machine has, for `missingRequirement`. */
export type MachineFacts = {
  isRoot: boolean
  /** `VERSION_CODENAME` of /etc/os-release; null if it has none. */
  codename: string | null
  /** Controllers with a hierarchy of their own (version 1). */
  controllers: readonly string[]
  cache: string
  /** Whether the cache folder is on an overlay file system, which cannot hold the layers of other containers. */
  isCacheOverlaid: boolean
  /** Whether the programs were built before. */
  isBuilt: boolean
}

export async function readMachineFacts(cache: string, isBuilt: boolean): Promise<MachineFacts> {
  const system = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const groups = await readdir(cgroupRoot).catch((): string[] => [])
  return {
    isRoot: process.getuid?.() === 0,
    codename: /^VERSION_CODENAME=(.*)$/m.exec(system)?.[1] ?? null,
    controllers: controllers.filter((name) => groups.includes(name)),
    cache,
    isCacheOverlaid: await isOverlaid(cache),
    isBuilt,
  }
}

/** Looks at the nearest folder that exists. */
async function isOverlaid(folder: string): Promise<boolean> {
  const type = await statfs(folder).then(
    (found) => found.type,
    () => null,
  )
  if (type === null) return folder !== dirname(folder) && isOverlaid(dirname(folder))
  return type === overlayMagic
}

/** Returns what a cluster needs and this machine lacks, as one sentence; null if it has everything. */
export function missingRequirement(facts: MachineFacts): string | null {
  const lacks = controllers.filter((name) => !facts.controllers.includes(name))
  if (!facts.isRoot) return 'A cluster needs root, for namespaces, control groups and network links.'
  if (lacks.length > 0)
    return `A cluster needs control groups of version 1 in ${cgroupRoot}; missing: ${lacks.join(', ')}. A boot with systemd.unified_cgroup_hierarchy=0 provides them.`
  if (facts.codename !== release && !facts.isBuilt)
    return `The control plane is built from packages of Debian 12 (${release}); this is ${facts.codename ?? 'another system'}.`
  const hidden = ownFolders.find((folder) => `${facts.cache}/`.startsWith(`${folder}/`))
  if (hidden)
    return `The cache folder ${facts.cache} is below ${hidden}, which each node replaces. Set ${cacheVariable} to another folder.`
  if (facts.isCacheOverlaid)
    return `The cache folder ${facts.cache} is on an overlay file system, which cannot hold image layers. Set ${cacheVariable} to a folder on a disk.`
  return null
}

/** The folders of the control group hierarchies of this machine. */
export async function cgroupFolders(): Promise<string[]> {
  const entries = await readdir(cgroupRoot, { withFileTypes: true })
  // Links are second names of joined controllers.
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(cgroupRoot, name))
}
